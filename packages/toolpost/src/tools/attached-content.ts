/**
 * Structured content of an MCP tool is a value like any other; the content blocks that came beside it, and whose text a
 * model reads, are kept with it out of sight. A registered symbol, since the package may be loaded twice.
 */
const CONTENT = Symbol.for('toolpost.content')

export function attachContent(value: object, blocks: readonly unknown[]): void {
  Object.defineProperty(value, CONTENT, { value: blocks })
}

export function attachedContent(value: object): readonly unknown[] | undefined {
  const blocks = (value as { [CONTENT]?: unknown })[CONTENT]
  return Array.isArray(blocks) ? blocks : undefined
}
