// Compares the answers with the ledger.
import { readFileSync } from 'node:fs'

const UNKNOWN = /the outcome of the call is unknown/

export function judge(answers, ledger) {
  const executed = new Map()
  for (const line of readFileSync(ledger, 'utf8').split('\n')) {
    const [id] = line.split(' ')
    if (id) executed.set(id, (executed.get(id) ?? 0) + 1)
  }
  const writes = answers.filter(({ tool }) => tool === 'write')
  const unknown = writes.filter(({ result }) => result && !result.success && UNKNOWN.test(result.error))
  const times = ({ id }) => executed.get(id) ?? 0
  const others = answers.filter(
    answer => answer.result && !answer.result.success && !unknown.includes(answer),
  )
  return {
    calls: answers.length,
    writes: writes.length,
    succeeded: answers.filter(({ result }) => result?.success).length,
    lost: answers.filter(({ result }) => !result).length,
    'writes executed twice': writes.filter(write => times(write) > 1).length,
    'reported done, but not executed': writes.filter(write => write.result?.success && times(write) === 0)
      .length,
    'answers of another call': answers.filter(({ id, result }) => result?.success && result.result.id !== id)
      .length,
    'keys used again': answers.filter(({ reused }) => reused).length,
    '… and not refused': answers.filter(({ reused }) => reused && reused.code !== 'invalid_arguments').length,
    'outcome unknown': unknown.length,
    '… of these executed': unknown.filter(write => times(write) === 1).length,
    '… of these not executed': unknown.filter(write => times(write) === 0).length,
    'other failures': others.length,
    otherFailures: [...new Set(others.map(({ result }) => result.error))].slice(0, 5),
  }
}

/** The rows that must be zero and are not. */
export function failures(table) {
  const forbidden = ['writes executed twice', 'reported done, but not executed', 'answers of another call']
  const all = ['lost', ...forbidden, '… and not refused', 'other failures', 'processes left']
  return all.filter(name => table[name] !== 0)
}
