import type { ModelInfo, ServerControl } from '../../gateway/index.ts'
import type { McpIntegration, ServerStatus } from '../../mcp/index.ts'
import type { AiClient, ChosenClient } from '../../models/index.ts'
import type { Session } from '../session.ts'

/** The parts of the program that take their time to start: each is there when it is there, and holds up no other. */
export class Parts {
  readonly #session: Session
  #mcp: McpIntegration | undefined
  #started: Promise<void> | undefined
  #choice: Promise<ChosenClient> | undefined
  #chosen: ChosenClient | undefined
  #problem: string | undefined

  constructor(session: Session) {
    this.#session = session
  }

  /** Starts everything side by side. Resolves when nothing is being started any more; never rejects. */
  async start(): Promise<void> {
    await Promise.all([this.#startServers(), this.#chooseModel()])
  }

  /** The servers, whether they are there already or not. */
  readonly servers: ServerControl = {
    status: (): ServerStatus[] => this.#mcp?.status() ?? [],
    restart: name =>
      this.#mcp?.restart(name) ?? Promise.reject(new Error(`There is no MCP server '${name}'`)),
  }

  /** The client of the chat; questions wait until it is chosen, and until the tools are there that they may need. */
  readonly client: AiClient = {
    ask: async (prompt, options) => (await this.#patientClient()).ask(prompt, options),
  }

  async model(): Promise<ModelInfo> {
    const { name, why } = await this.#chooseModel()
    return { name, why }
  }

  /** The client that was chosen, once it is. */
  get chosen(): ModelInfo | undefined {
    return this.#chosen
  }

  /** Why there are no servers at all, if that is so. */
  get problem(): string | undefined {
    return this.#problem ?? this.#session.servers.homeProblem
  }

  #startServers(): Promise<void> {
    this.#started ??= this.#start()
    return this.#started
  }

  async #start(): Promise<void> {
    try {
      this.#mcp = await this.#session.servers.start()
      await this.#mcp?.ready()
    } catch (error) {
      this.#problem = messageOf(error)
    }
  }

  async #patientClient(): Promise<AiClient> {
    const chosen = await this.#chooseModel()
    const { whenToolsReady } = await import('../../models/index.ts')
    return whenToolsReady(chosen, () => this.#startServers())
  }

  #chooseModel(): Promise<ChosenClient> {
    this.#choice ??= chooseModel(this.#session).then(chosen => {
      this.#chosen = chosen
      return chosen
    })
    return this.#choice
  }
}

async function chooseModel({ executor, config, logger }: Session): Promise<ChosenClient> {
  const { chooseClientOrOffline } = await import('../../models/index.ts')
  return chooseClientOrOffline({ executor, config, logger })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
