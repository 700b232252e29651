/** In tokens, as far as the provider reports them. */
export interface Usage {
  input?: number | undefined
  output?: number | undefined
}

/** The sum of two turns; a count that neither reports stays unknown. */
export function sumOfUsage(a: Usage, b: Usage): Usage {
  return { input: sum(a.input, b.input), output: sum(a.output, b.output) }
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
}
