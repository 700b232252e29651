import type { DecoderState, Row } from './decoder.ts'

/** A token, and the row it continues. */
export interface Step {
  token: number
  row: number
}

/** One way of decoding what was heard: one text, or several in parallel. */
export interface Writing {
  /** The next tokens, given the scores after each text of the last step, in order; empty when done. */
  next(rows: readonly Row[], most: number): readonly Step[]
}

interface Together {
  /** The decoder after its first step. */
  first: DecoderState
  advance(state: DecoderState, tokens: readonly number[], from: readonly number[]): Promise<DecoderState>
  /** The most texts at once. */
  most: number
  isStopped(): boolean
}

/** Decodes all of them in the same runs, which take hardly longer for eight texts than for two. */
export async function writeTogether(
  writings: readonly Writing[],
  { first, advance, most, isStopped }: Together,
): Promise<void> {
  let state = first
  let places: readonly (readonly number[])[] = writings.map(() => [0])
  while (!isStopped()) {
    const steps: Step[] = []
    places = writings.map((writing, index) => {
      const at = places[index] ?? []
      const rows = at.map(row => state.rows[row] as Row)
      const next = rows.length === 0 ? [] : writing.next(rows, most - steps.length)
      steps.push(...next.map(({ token, row }) => ({ token, row: at[row] as number })))
      return next.map((_, step) => steps.length - next.length + step)
    })
    if (steps.length === 0) return
    state = await advance(
      state,
      steps.map(({ token }) => token),
      steps.map(({ row }) => row),
    )
  }
}
