import { type SyntheticEvent, useEffect, useState } from 'react'
import type { ConversationInfo } from 'toolpost/gateway'
import { Button, IconButton } from '../../components/button.tsx'
import { Icon } from '../../components/icon.tsx'
import { Problem } from '../../components/problem.tsx'
import { hrefOf } from '../../routing/route.ts'
import { chat } from '../../state/chat.ts'
import { conversations } from '../../state/conversations.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { dayText } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { startOver } from './start-over.ts'

/** Earlier conversations, to open, rename and delete. A column on wide screens, a drawer on others. */
export function ConversationList() {
  const { list, problem } = useStore(conversations, state => state)
  const isThere = useStore(gateway, state => state.connection.state === 'open')
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    if (isThere) void conversations.refresh()
  }, [isThere])
  if (list === undefined || list.length === 0) return null
  return (
    <aside className={`conversations ${isOpen ? 'conversations-open' : ''}`} aria-label="Conversations">
      <button
        type="button"
        className="conversations-toggle button button-quiet"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="history" /> Conversations ({list.length})
      </button>
      <div className="conversations-list">
        <h2>Conversations</h2>
        <Problem text={problem} />
        <ul>
          {list.map(one => (
            <li key={one.id}>
              <Row conversation={one} onOpen={() => setOpen(false)} />
            </li>
          ))}
        </ul>
      </div>
    </aside>
  )
}

function Row({ conversation, onOpen }: { conversation: ConversationInfo; onOpen: () => void }) {
  const [mode, setMode] = useState<'shown' | 'named' | 'deleted'>('shown')
  const isCurrent = useStore(chat, state => (state.conversation ?? state.opening) === conversation.id)
  const name = oneLine(conversation.name, 80)
  const remove = () => {
    if (isCurrent) startOver()
    void conversations.remove(conversation.id)
  }
  if (mode === 'named') return <NameEditor conversation={conversation} onDone={() => setMode('shown')} />
  if (mode === 'deleted')
    return (
      <div className="conversation conversation-asks">
        <span>Delete it?</span>
        <Button look="danger" onClick={remove}>
          Delete
        </Button>
        <Button look="quiet" onClick={() => setMode('shown')}>
          Keep
        </Button>
      </div>
    )
  return (
    <div className="conversation">
      <a
        href={hrefOf({ view: 'chat', conversation: conversation.id })}
        aria-current={isCurrent ? 'true' : undefined}
        onClick={onOpen}
      >
        <span className="conversation-name">{name}</span>
        <span className="conversation-time muted">{dayText(conversation.updatedAt)}</span>
      </a>
      <IconButton icon="edit" label={`Rename ${name}`} onClick={() => setMode('named')} />
      <IconButton icon="remove" label={`Delete ${name}`} onClick={() => setMode('deleted')} />
    </div>
  )
}

function NameEditor({ conversation, onDone }: { conversation: ConversationInfo; onDone: () => void }) {
  const [name, setName] = useState(conversation.name)
  const save = (event: SyntheticEvent) => {
    event.preventDefault()
    if (name.trim() !== '') void conversations.rename(conversation.id, name.trim())
    onDone()
  }
  return (
    <form className="conversation" onSubmit={save}>
      <input
        aria-label="Conversation name"
        // biome-ignore lint/a11y/noAutofocus: the person just chose to rename it
        autoFocus
        value={name}
        maxLength={80}
        onChange={event => setName(event.target.value)}
        onKeyDown={event => event.key === 'Escape' && onDone()}
      />
      <button type="submit" className="icon-button" aria-label="Save name" title="Save name">
        <Icon name="done" />
      </button>
    </form>
  )
}
