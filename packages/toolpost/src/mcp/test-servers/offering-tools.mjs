// The tools of the configurable server in offering.mjs.

const question = message => ({ message, requestedSchema: { type: 'object', properties: {} } })
const numbers = length => Array.from({ length }, (_, at) => at)

const text = value => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
})

/** A request for input in place of a result. */
export function needs(inputRequests, requestState) {
  return { resultType: 'input_required', inputRequests, ...(requestState !== undefined && { requestState }) }
}

/** The tools by name; each gets its arguments, all parameters and the way back. */
export function toolsOf({ isModern, seen, held, listeners, lists, elicit, notify }) {
  return {
    async ask(args, params, way) {
      const answered = await elicit({ ...question('Really?'), ...args }, params, way)
      return answered?.resultType ? answered : text({ answered, state: params.requestState })
    },

    async sample(args, params, { request }) {
      const content = { type: 'text', text: args.text ?? 'hi' }
      const wanted = { messages: [{ role: 'user', content }], maxTokens: 10 }
      if (isModern && !params.inputResponses)
        return needs({ s: { method: 'sampling/createMessage', params: wanted } })
      return text(isModern ? params.inputResponses.s : await request('sampling/createMessage', wanted))
    },

    async roots(_args, _params, { request }) {
      return text((await request('roots/list', {})).result ?? 'none')
    },

    rounds(args, params) {
      const round = Number(params.requestState ?? 0)
      if (round >= args.count) return text(`after ${round} rounds: ${JSON.stringify(params.inputResponses)}`)
      const asked = { method: 'elicitation/create', params: question(`Round ${round}`) }
      return needs({ [`r${round}`]: asked }, `${round + 1}`)
    },

    async many(args, params, { request }) {
      if (isModern && params.inputResponses) return text(params.inputResponses)
      const method = 'elicitation/create'
      const questions = numbers(args.count).map(at => ({ method, params: question(`Question ${at}`) }))
      if (isModern) return needs(Object.fromEntries(questions.map((each, at) => [`k${at}`, each])))
      const replies = await Promise.all(questions.map(({ params: given }) => request(method, given)))
      return text(replies.map(({ result, error }) => result ?? error))
    },

    notify(args, _params, { send }) {
      for (let at = 0; at < (args.count ?? 1); at++) notify(send, args.method, args.params)
      return text('told')
    },

    async flood(args, _params, { request }) {
      const replies = await Promise.all(numbers(args.count).map(() => request(args.method, args.params)))
      return text({ replies: replies.length, refused: replies.filter(({ error }) => error).length })
    },

    hold(_args, _params, { id, send }) {
      held.set(id, send)
    },

    release() {
      for (const [each, back] of held) back({ jsonrpc: '2.0', id: each, result: text('released') })
      held.clear()
      return text('done')
    },

    state({ method: wanted }) {
      const told = wanted ? seen.filter(([method]) => method === wanted) : seen.map(([method]) => method)
      return text({ seen: told, listening: [...listeners.values()] })
    },

    set(args, _params, { send }) {
      for (const [kind, entries] of Object.entries(args)) {
        lists[kind] = entries
        notify(send, `notifications/${kind === 'templates' ? 'resources' : kind}/list_changed`, {})
      }
      return text('set')
    },

    result: args => args.result ?? text({ called: 'result', args }),
  }
}

/** The result of any other tool. */
export const echoed = (called, args) => args.result ?? text({ called, args })
