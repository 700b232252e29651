const MICROPHONE_PROBLEMS: Record<string, string> = {
  NotAllowedError: "The microphone is blocked for this page: allow it in the browser's address bar.",
  SecurityError: 'The browser does not allow the microphone on this page.',
  NotFoundError: 'No microphone was found: connect one and try again.',
  OverconstrainedError: 'No microphone was found: connect one and try again.',
  NotReadableError: 'The microphone is not working, or another program is using it.',
  EncodingError: 'The recording could not be read: hold the button and speak again.',
}

/** Why a recording failed, in one sentence. */
export function problemOf(error: unknown): string {
  if (error instanceof DOMException) return MICROPHONE_PROBLEMS[error.name] ?? failed(error.message)
  if (error instanceof Error) return asSentence(error.message)
  return failed(String(error))
}

function failed(reason: string): string {
  return asSentence(`The recording failed: ${reason}`)
}

function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}
