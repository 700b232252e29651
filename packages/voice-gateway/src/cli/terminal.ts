/** Answers go to stdout, everything else to stderr. Control characters in a tool's output never reach the terminal. */
export const terminal = {
  print: (text: string): void => void process.stdout.write(`${shown(text, process.stdout.isTTY)}\n`),
  say: (text: string): void => void process.stderr.write(`${shown(text, true)}\n`),
}

function shown(text: string, isForPerson: boolean): string {
  return isForPerson ? text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' ') : text
}
