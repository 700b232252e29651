/** What the gateway writes in place of what it cut from a long string, a long list, or a deep value. */
const SHORTENED = /… \(\d+ characters\)|"… \d+ more"|"…":"\d+ more"|"\[…\]"/

/** Why recorded arguments cannot be sent again unchanged; `undefined` if they can. */
export function obstacleToRepeat(args: unknown): string | undefined {
  try {
    const text = JSON.stringify(args) ?? ''
    if (SHORTENED.test(text)) return 'The arguments were too large to keep in full.'
    if (text.includes('"[removed]"')) return 'Secrets were removed from the arguments: fill them in again.'
  } catch {
    return 'The arguments are nested too deeply to send again.'
  }
  return undefined
}
