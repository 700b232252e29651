import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Run } from 'toolpost/project'
import type { FakeGateway } from '../fake-gateway.ts'

interface Asked {
  id: string
  action: string | undefined
  request: IncomingMessage
  response: ServerResponse
  searchParams: URLSearchParams
}

/** Durable runs as the page sees them; off unless there is a list. */
export class FakeRuns {
  list: Run[] | undefined
  readonly #gateway: FakeGateway

  constructor(gateway: FakeGateway) {
    this.#gateway = gateway
  }

  put(run: Run): void {
    this.list = [run, ...(this.list ?? []).filter(one => one.id !== run.id)]
    this.#gateway.send('run', run)
  }

  answer({ id, action, request, response, searchParams }: Asked): void {
    const run = this.list?.find(one => one.id === id)
    if (!this.list || (id !== '' && !run)) return send(response, { error: 'Not found' }, 404)
    if (!run) return send(response, { runs: this.#page(this.list, searchParams) })
    if (action === 'again') {
      const fresh = { ...run, id: `${run.id}-again`, state: 'waiting' as const, result: undefined, steps: [] }
      this.put(fresh)
      return void response.writeHead(202, { location: `/api/runs/${fresh.id}` }).end()
    }
    if (request.method === 'DELETE') {
      this.put({ ...run, state: 'cancelled' })
      return void response.writeHead(204).end()
    }
    send(response, run)
  }

  #page(list: readonly Run[], asked: URLSearchParams): Run[] {
    const before = asked.get('before')
    const from = before === null ? 0 : list.findIndex(run => run.id === before) + 1
    const fits = list.slice(from).filter(run => (asked.get('state') ?? run.state) === run.state)
    return fits.slice(0, Number(asked.get('limit')))
  }
}

function send(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
