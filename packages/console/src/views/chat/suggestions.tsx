import { chat } from '../../state/chat.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { drafting } from './drafting.ts'
import { hasBlank, shownSuggestion, suggestionsFor } from './example-questions.ts'
import { useCanAsk } from './use-can-ask.ts'

/** The empty chat: what can be asked, from the sentences of the available tools. */
export function Suggestions() {
  const tools = useStore(gateway, state => state.tools)
  const canAsk = useCanAsk()
  return (
    <div className="chat-beginning">
      <h2>Ask for something</h2>
      <p className="muted">The model calls the tools, and every call is shown in the conversation.</p>
      <div className="chips">
        {suggestionsFor(tools ?? []).map(sentence => (
          <button
            key={sentence}
            type="button"
            className="chip"
            disabled={!canAsk}
            onClick={() => (hasBlank(sentence) ? drafting.set(sentence) : void chat.ask(sentence))}
          >
            {shownSuggestion(sentence)}
          </button>
        ))}
      </div>
    </div>
  )
}
