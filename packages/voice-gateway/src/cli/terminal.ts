/** Answers go to stdout, everything else to stderr. What a tool says cannot move the cursor. */
export const terminal = {
  print: (text: string): void => void process.stdout.write(`${shown(text, process.stdout.isTTY)}\n`),
  say: (text: string): void => void process.stderr.write(`${shown(text, true)}\n`),
}

function shown(text: string, isForPerson: boolean): string {
  return isForPerson ? text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' ') : text
}
