import { JsonWriter } from '../../runtime/json-writer.ts'

/** One server-sent event. The data is JSON, so it has no line break that could start another event. */
export function eventText(event: string, data: unknown, id?: string): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`
  return `${idLine}event: ${event}\ndata: ${new JsonWriter(data).rest()}\n\n`
}

/** A comment, which clients ignore. */
export function commentText(comment: string): string {
  return `: ${comment}\n\n`
}
