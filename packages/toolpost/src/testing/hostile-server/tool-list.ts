const anything = { type: 'object' }
const readOnly = { readOnlyHint: true }

/** The tools that a hostile server offers. `server.ts` says what each does. */
export const HOSTILE_TOOLS: Record<string, unknown>[] = [
  { name: 'echo', description: 'Gives back its text', inputSchema: withText('text'), annotations: readOnly },
  { name: 'write', description: 'Is noted in the journal', inputSchema: anything },
  {
    name: 'answer',
    description: 'Answers with the result it is given, or with a raw line',
    inputSchema: anything,
  },
  { name: 'refuse', description: 'Answers with a JSON-RPC error', inputSchema: anything },
  {
    name: 'die',
    description: 'Dies during the call',
    inputSchema: anything,
    annotations: { destructiveHint: true },
  },
  {
    name: 'die_reading',
    description: 'Dies during the call, as often as it is told',
    inputSchema: anything,
    annotations: readOnly,
  },
  {
    name: 'die_idempotent',
    description: 'The same',
    inputSchema: anything,
    annotations: { idempotentHint: true },
  },
  { name: 'half_line', description: 'Writes half an answer and exits', inputSchema: anything },
  { name: 'never', description: 'Never answers', inputSchema: anything },
  { name: 'late', description: 'Answers when the call is cancelled', inputSchema: anything },
  { name: 'wrong_id', description: 'Answers under another id', inputSchema: anything },
  { name: 'twice', description: 'Answers twice', inputSchema: anything },
  { name: 'junk', description: 'Writes lines that are no messages, then answers', inputSchema: anything },
  { name: 'flood_stderr', description: 'Writes many bytes to stderr, then answers', inputSchema: anything },
  { name: 'endless_line', description: 'Writes a line without end', inputSchema: anything },
  { name: 'big_result', description: 'Answers with a long text', inputSchema: anything },
  {
    name: 'children',
    description: 'Starts children that hold its pipes; gives their process ids',
    inputSchema: anything,
  },
  {
    name: 'progress',
    description: 'Reports progress, the last together with its answer',
    inputSchema: anything,
  },
  {
    name: 'stuck',
    description: 'Never answers, but reports progress when it is poked',
    inputSchema: anything,
  },
  { name: 'poke', description: 'Makes the stuck calls report progress', inputSchema: anything },
  { name: 'change_tools', description: 'Changes its own list of tools', inputSchema: anything },
  { name: 'environment', description: 'Gives the names of its environment variables', inputSchema: anything },
  { name: 'close_stdout', description: 'Closes its stdout and lives on', inputSchema: anything },
  { name: 'stop_reading', description: 'Answers, and never reads its stdin again', inputSchema: anything },
  {
    name: 'flood',
    description: 'Writes a line many times, $n counting, then answers',
    inputSchema: anything,
  },
  { name: 'fill', description: 'Answers with a list of one unit repeated', inputSchema: anything },
  { name: 'removable', description: 'Is gone after change_tools', inputSchema: anything },
]

function withText(name: string): object {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] }
}

/** `tool_0`, `tool_1` … */
export function numberedTools(count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, n) => ({ name: `tool_${n}`, inputSchema: anything }))
}

/** The list after `change_tools`: one gone, one new, one that says something else; no numbered ones. */
export function changedTools(tools: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  const kept = tools.filter(({ name }) => name !== 'removable' && !/^tool_\d+$/.test(String(name)))
  const changed = kept.map(tool =>
    tool.name === 'echo'
      ? { ...tool, description: 'Says it all again', inputSchema: withText('words') }
      : tool,
  )
  return [...changed, { name: 'added', description: 'Was not there before', inputSchema: anything }]
}
