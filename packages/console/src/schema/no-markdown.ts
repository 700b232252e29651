/** Replaces the form package's Markdown library, which is never enabled here: text stays text. */
export function Markdown({ children }: { children?: string }): string | null {
  return children ?? null
}
