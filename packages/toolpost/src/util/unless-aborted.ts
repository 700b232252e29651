/** Settles as `work` does, or rejects with the signal's reason as soon as it is aborted, whatever `work` does. */
export function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let giveUp = () => {}
  return new Promise<Value>((resolve, reject) => {
    giveUp = () => reject(signal.reason)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp)
    work.then(resolve, reject)
  }).finally(() => signal.removeEventListener('abort', giveUp))
}
