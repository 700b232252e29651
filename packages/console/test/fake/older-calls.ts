import type { CallRecord } from 'toolpost/gateway'

/** A page of the history, as far as the page asks for it; what was asked is noted. */
export function olderPage(
  { older, questions }: { older: readonly CallRecord[]; questions: string[] },
  asked: URLSearchParams,
): object {
  questions.push(asked.toString())
  const is = (name: string, value: string) => (asked.get(name) ?? value) === value
  const found = older.filter(call => is('tool', call.tool) && is('server', call.source))
  const from = Number(asked.get('cursor') ?? 0)
  const to = from + Number(asked.get('limit'))
  return { calls: found.slice(from, to), ...(to < found.length && { next: String(to) }) }
}
