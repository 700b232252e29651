/*
 * Stands in for parts of packages that this page does not use (see vite.config.ts): the form package's Markdown and
 * URI libraries, layout fields, and widgets for files, ratings and split dates; the palette's own dialog.
 */

export function Markdown({ children }: { children?: string }): string | null {
  return children ?? null
}

// biome-ignore lint/style/noDefaultExport: the packages import it that way
export default function LeftOut(): null {
  return null
}

/** References in a form's schema are to itself only, by `#/…`. */
LeftOut.resolve = (base: string, reference: string): string => `${base}${reference}`
LeftOut.equal = (one: string, other: string): boolean => one === other

export { LeftOut as Content, LeftOut as Overlay, LeftOut as Portal, LeftOut as Root }
