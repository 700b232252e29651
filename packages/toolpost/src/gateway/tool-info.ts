import { exampleSentences } from '../models/offline/example-sentences.ts'
import { JsonWriter, RawJson } from '../runtime/json-writer.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import { plainSchema } from '../schema/limits.ts'
import { signatureOf } from '../schema/signature.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolManager } from '../tools/tool-manager.ts'
import type { JsonSchema, ToolInfo } from './api-types.ts'

/** Leaves out what cannot be read of a tool, without affecting other tools. */
export function toolInfo(tool: Tool, tools: ToolManager): ToolInfo {
  const { name, title, description = '', readOnly, idempotent, destructive, timeoutMs } = tool
  const outputSchema = plainSchema(() => tool.outputSchema)
  const sentences = sentencesOf(tool, tools)
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    source: tools.originOf(tool)?.server ?? 'local',
    signature: signatureOf(tool),
    schema: inputSchemaOf(tool),
    ...(outputSchema && { outputSchema }),
    ...(readOnly !== undefined && { readOnly }),
    ...(idempotent !== undefined && { idempotent }),
    ...(destructive !== undefined && { destructive }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(sentences.length > 0 && { sentences }),
  }
}

function sentencesOf(tool: Tool, tools: ToolManager): string[] {
  try {
    return exampleSentences(tool, tools)
  } catch {
    return []
  }
}

/** The schema of a tool's arguments; an open one if it cannot be shown. */
export function inputSchemaOf(tool: Tool): JsonSchema {
  const open = { type: 'object', description: 'The schema of this tool cannot be shown' }
  return plainSchema(() => jsonSchemaOf(tool)) ?? open
}

/**
 * A JSON description of each tool, made once per tool when it is first written: a list of 10,000 tools is written in
 * slices, and is cached the next time.
 */
export class ToolTexts {
  readonly #texts = new WeakMap<Tool, RawJson>()
  readonly #describe: (tool: Tool) => object

  constructor(describe: (tool: Tool) => object) {
    this.#describe = describe
  }

  of(tool: Tool): { toJSON(): RawJson } {
    return { toJSON: () => this.#texts.get(tool) ?? this.#made(tool) }
  }

  #made(tool: Tool): RawJson {
    const text = new RawJson(new JsonWriter(this.#describe(tool)).rest())
    this.#texts.set(tool, text)
    return text
  }
}
