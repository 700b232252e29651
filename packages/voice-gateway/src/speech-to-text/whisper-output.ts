/** What whisper.cpp writes beside words: times, and what it hears besides speech. */
const TIMESTAMP = /\[\d\d:\d\d(:\d\d)?[.,]\d+ --> \d\d:\d\d(:\d\d)?[.,]\d+\]/g
const REMARK = /\[[^[\]\n]*\]|\([^()\n]*\)|\*[^*\n]*\*|[♪♫]+/g

/** The words in the output of whisper.cpp, on one line. */
export function wordsOf(output: string): string {
  return output.replace(TIMESTAMP, ' ').replace(REMARK, ' ').replace(/\s+/g, ' ').trim()
}
