import type { AiClient } from 'toolpost/models'

/** A client that says which servers are gone if a question was not understood: it may have been meant for them. */
export function tellingOfMissing(client: AiClient, missing: () => readonly string[]): AiClient {
  return {
    async ask(prompt, options) {
      const answer = await client.ask(prompt, options)
      const names = missing()
      if (answer.iterations > 0 || names.length === 0) return answer
      const notice = `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} not there right now.`
      return { ...answer, text: `${answer.text} ${notice}` }
    },
  }
}
