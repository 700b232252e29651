import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { hostileServer } from '../../test/hostile-server/hostile-server.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import { ConfigError } from './config.ts'
import { openProject } from './open-project.ts'
import { readConfig } from './read.ts'

const { configFile } = commandLine()
const files = { command: 'files' }

describe('a policy with a mistake', () => {
  it.each<[string, unknown[], string]>([
    [
      'an unknown word',
      [{ tool: 'a', then: 'deny' }],
      "unknown 'policy[0].tool'; expected one of tools, servers, from",
    ],
    ['an unknown decision', [{ then: 'forbid' }], 'policy[0].then'],
    ['no decision', [{ tools: 'a' }], "missing 'policy[0].then'"],
    ['an unknown origin', [{ from: ['email'], then: 'deny' }], 'policy[0].from[0]'],
    ['no tools at all', [{ tools: [], then: 'deny' }], 'policy[0].tools'],
    ['an unknown hint', [{ if: { dangerous: true }, then: 'deny' }], 'dangerous'],
    ['a pattern of another kind', [{ tools: 'wi[pq]e', then: 'deny' }], 'only * and ? are wildcards'],
    [
      'a rule behind one for everything',
      [{ then: 'allow' }, { tools: 'a', then: 'deny' }],
      'policy[0] matches first',
    ],
    [
      'a rule behind the same one',
      [
        { tools: ['a', 'b'], then: 'allow' },
        { servers: ['files'], then: 'ask' },
        { tools: 'a', then: 'deny' },
      ],
      'policy[2]: can never match: policy[0] matches first',
    ],
    [
      'a rule behind a pattern that holds its name',
      [
        { tools: 'fs__*', then: 'deny' },
        { tools: 'fs__read', then: 'allow' },
      ],
      'policy[1]: can never match: policy[0] matches first',
    ],
    [
      'a rule behind a wider pattern',
      [
        { tools: 'fs__*', then: 'deny' },
        { tools: 'fs__read_*', from: ['mcp'], then: 'allow' },
      ],
      'policy[0] matches first',
    ],
    ['an unknown server', [{ servers: ['flies'], then: 'deny' }], "there is no server 'flies' in mcpServers"],
    ['a pattern for no server', [{ servers: ['x*'], then: 'deny' }], "there is no server 'x*' in mcpServers"],
    ['an unknown client', [{ callers: ['claude'], then: 'deny' }], "there is no client 'claude' in clients"],
    [
      'a contradiction',
      [{ if: { destructive: true, readOnly: true }, then: 'deny' }],
      "a tool is either 'destructive' or 'readOnly'",
    ],
    [
      'a broken schema',
      [{ args: { type: 'strin' }, then: 'deny' }],
      "policy[0]: 'args' is not a usable JSON Schema",
    ],
    [
      'a pattern that is none',
      [{ args: { properties: { path: { pattern: '(' } } }, then: 'deny' }],
      "policy[0]: 'args'",
    ],
  ])('is told with file and place: %s', async (_title, policy, problem) => {
    const file = configFile({ mcpServers: { files }, policy })
    const error = await readConfig(file).catch(thrown => thrown)
    expect(error).toBeInstanceOf(ConfigError)
    expect(error.message).toMatch(/config-\d+\.json:1:\d+/)
    expect(error.message).toContain(problem)
  })
})

describe('a policy that names tools', () => {
  async function warnings(policy: unknown[]) {
    const said: string[] = []
    const project = await openProject({
      file: configFile({ mcpServers: { hostile: hostileServer() }, policy }),
      logger: () => recordingLogger(),
      say: text => void said.push(text),
    })
    try {
      expect(said).toEqual([])
      await project.ready()
      await project.ready()
      return said
    } finally {
      await project.close()
    }
  }

  it('that are not there is warned about once, when the servers are ready', async () => {
    expect(
      await warnings([
        { tools: 'write', then: 'deny' },
        { tools: ['echo', 'wriet'], then: 'ask' },
        { tools: 'fs__*', then: 'deny' },
        { then: 'allow' },
      ]),
    ).toEqual([
      "⚠️ policy[1] names 'wriet', but there is no such tool (yet)",
      "⚠️ policy[2] names 'fs__*', but there is no such tool (yet)",
    ])
  })
})
