/** A variable of a URI template, and the text that follows it. */
interface Part {
  /** Matches slashes too: `{+path}`, `{/path*}`, `{?query}` … */
  isWide: boolean
  after: string
}

/** A URI template as a matcher. Not a regular expression: templates come from servers, and some would take forever to match. */
export class TemplateMatch {
  readonly #before: string
  readonly #parts: readonly Part[]

  constructor(template: string) {
    const [before = '', ...rest] = template.split('{')
    this.#before = before
    this.#parts = rest.map(each => {
      const end = each.indexOf('}')
      return { isWide: !/^\w/.test(each), after: each.slice(end + 1) }
    })
  }

  fits(uri: string): boolean {
    if (!uri.startsWith(this.#before)) return false
    let at = this.#before.length
    for (const [index, { isWide, after }] of this.#parts.entries()) {
      const isLast = index === this.#parts.length - 1
      const end = isLast ? endOf(uri, after) : uri.indexOf(after, at)
      if (end < at || (!isWide && (end === at || uri.slice(at, end).includes('/')))) return false
      at = end + after.length
    }
    return at === uri.length
  }
}

function endOf(uri: string, after: string): number {
  return uri.endsWith(after) ? uri.length - after.length : -1
}
