// The client for the conformance suite: connects, logs in if required, and calls the tools.
import { ToolExecutor, ToolManager } from 'toolpost'
import { McpIntegration } from 'toolpost/mcp'

const NAME = 'conformance'
/** As often as a person would try. */
const MAX_LOGINS = 3
const REDIRECT = 'http://127.0.0.1:41888/oauth/callback'
const CLIENT_METADATA = 'https://conformance-test.local/client-metadata.json'

/** Resolves to whether it could connect: some scenarios expect that it cannot. `log` receives lines on what happened. */
export async function runScenario({ url, scenario, context = {} }, log) {
  const tools = new ToolManager()
  const executor = new ToolExecutor(tools, { timeoutMs: 10_000 })
  const oauth = scenario.startsWith('auth/') && oauthFor(scenario, context)
  const servers = { [NAME]: { url, ...(oauth && { oauth }) } }
  const mcp = new McpIntegration({ servers, retry: { attempts: 1 } })
  const client = new Client({ mcp, executor, log })
  try {
    mcp.start(tools)
    await mcp.ready(NAME)
    await client.logInIfNeeded()
    const calls = callsFor(tools, context)
    // Login scenarios differ in what happens after the first call.
    for (const call of oauth ? [...calls, ...calls] : calls) await client.make(call)
    return client.state() === 'ready'
  } finally {
    await mcp.close()
  }
}

class Client {
  #logins = 0

  constructor({ mcp, executor, log }) {
    Object.assign(this, { mcp, executor, log })
  }

  state() {
    const [{ state, error }] = this.mcp.status()
    if (error) this.log(error)
    return state
  }

  async logInIfNeeded() {
    while (this.state() === 'needs_login' && this.#logins < MAX_LOGINS) await this.logIn()
  }

  /** Like a person in a browser; the suite's authorization server approves immediately. */
  async logIn() {
    this.#logins++
    try {
      const login = this.mcp.logins.of(NAME)
      const { headers } = await fetch(await login.begin(REDIRECT), { redirect: 'manual' })
      await login.finish(new URL(headers.get('location')).searchParams)
      await this.mcp.restart(NAME)
    } catch (error) {
      this.log(`Login failed: ${error.message}`)
    }
  }

  /** Repeats a call after another login if the first one is not sufficient. */
  async make(call) {
    const ask = async ({ schema = {} }) => ({ action: 'accept', content: valueFor(schema) ?? {} })
    const result = await this.executor.run(call, { ask, repair: true })
    this.log(`${call.name} ${JSON.stringify(result)}`)
    if (!/toolpost auth|login|permission/i.test(result.error ?? '') || this.#logins >= MAX_LOGINS) return
    await this.logIn()
    await this.make(call)
  }
}

/** The scenario's settings for a pre-registered client. */
function oauthFor(scenario, { client_id: clientId, client_secret: clientSecret, ...rest }) {
  const { private_key_pem: privateKey, signing_algorithm: algorithm } = rest
  return {
    ...(scenario.includes('client-credentials') && { grant: 'client_credentials' }),
    ...(clientId ? { clientId } : { clientMetadataUrl: CLIENT_METADATA }),
    ...(clientSecret && { clientSecret }),
    ...(privateKey && { privateKey, algorithm }),
  }
}

/** The scenario's calls, or else every tool once. One scenario wants a tool's schema back as it was received. */
function callsFor(tools, { toolCalls }) {
  if (toolCalls) return toolCalls.map(({ name, arguments: args }) => ({ name, args }))
  const schema = tools.findTool('json_schema_2020_12_tool')?.schema
  return tools.getTools().map(tool => {
    const args = valueFor(tool.schema) ?? {}
    return { name: tool.name, args: schema && 'schema' in args ? { schema } : args }
  })
}

/** A value that matches a simple schema. */
function valueFor({ type, properties = {}, default: preset, enum: choices, oneOf }) {
  if (preset !== undefined) return preset
  if (choices) return choices[0]
  if (oneOf) return oneOf[0]?.const
  const values = Object.entries(properties).map(([key, each]) => [key, valueFor(each)])
  const simple = { string: 'text', number: 5, integer: 5, boolean: true, array: [] }
  return { ...simple, object: Object.fromEntries(values) }[type]
}
