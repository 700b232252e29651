import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { OfflineClient } from 'toolpost/models'
import type { Project } from 'toolpost/project'
import { describe, expect, it } from 'vitest'
import { hotwordsOf } from './hotwords-of.ts'

const tools = new ToolManager()
tools.addCustomTool(
  defineTool({
    name: 'play',
    description: 'Plays a list',
    schema: {
      type: 'object',
      properties: { list: { type: 'string', enum: ['Dinner', 'Fado', 'all'] }, at: { type: 'number' } },
    },
    sentences: ['play dinner'],
    handler: () => 'ok',
  }),
)
const executor = new ToolExecutor(tools)
const sentences = new OfflineClient({ executor })

function project(chosen: object): Pick<Project, 'model' | 'config' | 'executor'> {
  const config = { mcpServers: { 'paperless-ngx': { command: 'x' } } }
  return { executor, config, model: async () => chosen } as unknown as Project
}

describe('names that somebody may say to a model', () => {
  const voice = { hotwords: ['Jellyfin'] }

  it('are those of the configuration, and what is written like a name in tools, if no sentence has it', async () => {
    const client = new OfflineClient({ executor })
    expect(await hotwordsOf(project({ client, sentences }), voice)()).toEqual([
      'Jellyfin',
      'paperless ngx',
      'Fado',
    ])
    expect(await hotwordsOf(project({ client }), {})()).toEqual(['paperless ngx', 'Dinner', 'Fado'])
  })

  it('are none if sentences alone answer', async () => {
    expect(await hotwordsOf(project({ client: sentences, sentences }), voice)()).toEqual([])
  })
})
