import type { Tool } from './tool.ts'

/** The same tool under another name. The original is not changed, and its `invoke` stays bound to it. */
export function withName(tool: Tool, name: string): Tool {
  const renamed: Record<string, unknown> = { name, invoke: tool.invoke.bind(tool) }
  for (const key of KEPT) if (tool[key] !== undefined) renamed[key] = tool[key]
  // How LangChain recognises its own tools and their annotations.
  const { metadata, lc_namespace } = tool as { metadata?: unknown; lc_namespace?: unknown }
  if (metadata !== undefined) renamed.metadata = metadata
  if (lc_namespace !== undefined) renamed.lc_namespace = lc_namespace
  return renamed as unknown as Tool
}

const KEPT = [
  'description',
  'schema',
  'title',
  'outputSchema',
  'inputEnvelope',
  'timeoutMs',
  'maxTimeoutMs',
  'readOnly',
  'idempotent',
  'destructive',
  'openWorld',
  'passedOn',
  'sentences',
  'responseFormat',
] as const satisfies readonly (keyof Tool)[]
