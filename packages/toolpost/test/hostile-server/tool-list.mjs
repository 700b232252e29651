const anything = { type: 'object' }
/** What each tool does, as implemented in `server.mjs`. */
const DESCRIPTIONS = {
  echo: 'Gives back its text',
  write: 'Only records the call in the journal',
  answer: 'Answers with the result it is given, or with a raw line',
  die: 'Dies during the call',
  die_reading: 'Dies during the call, the first few times',
  die_idempotent: 'The same',
  never: 'Never answers',
  junk: 'Writes lines that are not messages, then answers',
  endless_line: 'Writes an endless line',
  big_result: 'Answers with a long text',
  children: 'Starts children that hold its pipes; returns their process ids',
  progress: 'Reports progress, the last together with its answer',
  stuck: 'Never answers either',
  change_tools: 'Changes its list of tools',
  environment: 'Returns the names of its environment variables',
  close_stdout: 'Closes its stdout and keeps running',
  stop_reading: 'Answers, and never reads its stdin again',
  flood: 'Writes a line many times, with $n as a counter, then answers',
  fill: 'Answers with a list of one unit repeated',
  removable: 'Gone after change_tools',
}
/** What differs for some of them. */
const PARTICULARS = {
  echo: { inputSchema: withText('text'), annotations: { readOnlyHint: true } },
  die: { annotations: { destructiveHint: true } },
  die_reading: { annotations: { readOnlyHint: true } },
  die_idempotent: { annotations: { idempotentHint: true } },
}
/** The tools that a hostile server offers. */
export const HOSTILE_TOOLS = Object.entries(DESCRIPTIONS).map(([name, description]) => ({
  name,
  description,
  inputSchema: anything,
  ...PARTICULARS[name],
}))
function withText(name) {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] }
}
/** `tool_0`, `tool_1` … */
export function numberedTools(count) {
  return Array.from({ length: count }, (_, n) => ({ name: `tool_${n}`, inputSchema: anything }))
}
/** The list after `change_tools`: one removed, one added, one changed; no numbered ones. */
export function changedTools(tools) {
  const kept = tools.filter(({ name }) => name !== 'removable' && !/^tool_\d+$/.test(String(name)))
  const changed = { description: 'Says it all again', inputSchema: withText('words') }
  return [
    ...kept.map(tool => (tool.name === 'echo' ? { ...tool, ...changed } : tool)),
    { name: 'added', description: 'Was not there before', inputSchema: anything },
  ]
}
