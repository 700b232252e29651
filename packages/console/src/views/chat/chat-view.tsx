import { useEffect, useRef } from 'react'
import { Button } from '../../components/button.tsx'
import { EmptyState, Loading } from '../../components/empty-state.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { goInPlace } from '../../routing/use-route.ts'
import { type ChatTurn, chat } from '../../state/chat.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { Composer } from './composer.tsx'
import { ConversationList } from './conversation-list.tsx'
import { ModelChoice } from './model-choice.tsx'
import { SpeechSwitch } from './speech-switch.tsx'
import { startOver } from './start-over.ts'
import { Suggestions } from './suggestions.tsx'
import { Turn } from './turn.tsx'

export function ChatView({ conversation }: { conversation: string | undefined }) {
  const { turns, opening, problem } = useStore(chat, state => state)
  const end = useRef<HTMLDivElement>(null)
  useAddress(conversation)
  useFollowing(turns, end)
  return (
    <div className="chat-page">
      <ConversationList />
      <div className="chat">
        <PageHead title="Chat" sub={<ModelChoice />}>
          <SpeechSwitch />
          {turns.length > 0 && (
            <Button look="quiet" icon="add" className="chat-new" title="New conversation" onClick={startOver}>
              <span>New conversation</span>
            </Button>
          )}
        </PageHead>
        <div className="chat-turns" role="log" aria-label="Conversation" aria-busy={isBusy(turns)}>
          {opening !== undefined && <Loading label="Loading the conversation" rows={3} />}
          {problem !== undefined && <Gone problem={problem} />}
          {turns.length === 0 && opening === undefined && problem === undefined && <Suggestions />}
          {turns.map((turn, at) => (
            <Turn key={turn.number} turn={turn} isLast={at === turns.length - 1} />
          ))}
          <div ref={end} className="chat-end" />
        </div>
        <Composer />
      </div>
    </div>
  )
}

function Gone({ problem }: { problem: string }) {
  return (
    <EmptyState
      title={problem}
      icon="history"
      action={<Button onClick={startOver}>Start a new conversation</Button>}
    >
      The gateway keeps only the last hundred conversations; see the list.
    </EmptyState>
  )
}

function isBusy(turns: ChatTurn[]): boolean {
  return turns.at(-1)?.answer.state === 'streaming'
}

/** The address names the conversation, so that it survives a reload; without one, the current conversation is shown. */
function useAddress(asked: string | undefined): void {
  const { conversation, opening, left } = useStore(chat, state => state)
  const isThere = useStore(gateway, state => state.connection.state === 'open')
  const answered = useRef(conversation)
  useEffect(() => {
    if (asked === undefined && left !== undefined) chat.arrived()
    const isNew = conversation !== undefined && conversation !== answered.current
    answered.current = conversation
    if (isNew || asked === undefined) {
      // The first answer gave the conversation its id.
      if (conversation !== undefined && conversation !== asked) goInPlace({ view: 'chat', conversation })
    } else if (asked !== conversation && asked !== left && opening === undefined && isThere)
      void chat.open(asked)
  }, [asked, conversation, opening, left, isThere])
}

/** Scrolls to a new question, and along with the growing answer unless the person has scrolled up. */
function useFollowing(turns: ChatTurn[], end: React.RefObject<HTMLElement | null>): void {
  const count = useRef(turns.length)
  useEffect(() => {
    const isNew = turns.length !== count.current || turns.at(-1)?.answer.parts.length === 0
    count.current = turns.length
    const page = document.documentElement
    const below = page.scrollHeight - page.scrollTop - page.clientHeight
    if (isNew || below < 300) end.current?.scrollIntoView({ block: 'end' })
  }, [turns, end])
}
