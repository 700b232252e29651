/** Stands in for the Markdown library of the form package, which is never switched on here: text stays text. */
export function Markdown({ children }: { children?: string }): string | null {
  return children ?? null
}
