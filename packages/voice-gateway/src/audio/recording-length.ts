const LONGEST_MINUTES = 15

/** Why a recording of this length is refused; undefined if it is not. */
export function tooLong(seconds: number): string | undefined {
  return seconds > LONGEST_MINUTES * 60
    ? `the recording is longer than ${LONGEST_MINUTES} minutes`
    : undefined
}
