/** What whisper.cpp writes besides words: timestamps, and remarks about other sounds. */
const TIMESTAMP = /\[\d\d:\d\d(:\d\d)?[.,]\d+ --> \d\d:\d\d(:\d\d)?[.,]\d+\]/g
const REMARK = /\[[^[\]\n]*\]|\([^()\n]*\)|\*[^*\n]*\*|[♪♫]+/g

/** The words in whisper.cpp's output, on one line. */
export function wordsOf(output: string): string {
  return output.replace(TIMESTAMP, ' ').replace(REMARK, ' ').replace(/\s+/g, ' ').trim()
}
