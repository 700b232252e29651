import { ArrowUp, Pencil, Plus, Square, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { removeConversation, renameConversation } from '../../api/gateway.ts'
import { queryClient, useConversations, useModel, useModels, useTools } from '../../api/queries.ts'
import { go, hrefTo, useParts } from '../../router.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Button, IconButton, LinkButton, Problem, Spinner, ViewHead } from '../../ui/controls.tsx'
import { Select } from '../../ui/select.tsx'
import { StayAtEnd } from '../../ui/stay-at-end.tsx'
import { attempt } from '../../ui/toast.tsx'
import { ask, openConversation, useChat, useChosenModel } from './chat-store.ts'
import { suggestionsFor } from './suggestions.ts'
import { TalkButton } from './talk-button.tsx'
import { TurnView } from './turn.tsx'

/** A conversation with the model that calls the tools; every call is shown in it. */
export function ChatView() {
  const [, id] = useParts()
  const { turns, conversation, isOpening, problem, stop } = useChat()
  // The address names the conversation; without a name it is the one that is open, or a new one.
  useEffect(() => {
    const { conversation: current } = useChat.getState()
    if (id !== undefined) void openConversation(id)
    else if (current !== undefined) go(hrefTo(['chat', current]), { replace: true })
  }, [id])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new conversation gets its address once it is kept
  useEffect(() => {
    if (conversation !== undefined && id === undefined) go(hrefTo(['chat', conversation]), { replace: true })
  }, [conversation])
  return (
    <div className="flex min-h-0 flex-1">
      <Conversations current={id} />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <ViewHead title="Chat">
          <ModelChoice />
          <ConversationChoice current={id} />
          <LinkButton href="#/chat" icon={Plus} onClick={() => void openConversation(undefined)}>
            New
          </LinkButton>
        </ViewHead>
        <StayAtEnd label="Conversation" content={turns} className="min-h-0 flex-1">
          <div className="mx-auto flex max-w-3xl flex-col gap-6 p-4">
            <Problem text={problem} />
            {isOpening && <Spinner label="Loading the conversation" />}
            {turns.length === 0 && !isOpening && <Beginning />}
            {turns.map((turn, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: turns keep their order
              <TurnView key={at} turn={turn} number={at} isBusy={stop !== undefined} />
            ))}
          </div>
        </StayAtEnd>
        <Composer />
      </div>
    </div>
  )
}

function Beginning() {
  const { data: tools = [] } = useTools()
  return (
    <div className="flex flex-col gap-3 pt-10">
      <h2 className="text-lg">Ask for something</h2>
      <p className="text-muted">The model calls the tools, and every call is shown in the conversation.</p>
      <div className="flex flex-wrap gap-2">
        {suggestionsFor(tools).map(question => (
          <Button key={question} onClick={() => void ask(question)}>
            {oneLine(question, 100)}
          </Button>
        ))}
      </div>
    </div>
  )
}

function ModelChoice() {
  const { data: model } = useModel()
  const { data: models = [] } = useModels()
  const { model: chosen } = useChosenModel()
  if (models.length < 2)
    return <span className="min-w-0 truncate text-xs text-muted">{model && oneLine(model.name, 40)}</span>
  const options = models.map(({ name }) => ({ value: name, label: oneLine(name, 60) }))
  return (
    <Select
      label="Model"
      className="w-52"
      value={chosen}
      options={[{ value: '', label: `Default (${oneLine(model?.name ?? '', 40)})` }, ...options]}
      onChange={next => useChosenModel.setState({ model: next })}
    />
  )
}

function Composer() {
  const [text, setText] = useState('')
  const stop = useChat(chat => chat.stop)
  const send = () => {
    if (text.trim() === '' || stop) return
    void ask(text.trim())
    setText('')
  }
  return (
    <form
      className="mx-auto w-full max-w-3xl p-3"
      onSubmit={event => {
        event.preventDefault()
        send()
      }}
    >
      <div className="card flex items-end gap-1 p-1.5 focus-within:border-accent">
        <textarea
          className="min-h-8 flex-1 resize-none bg-transparent px-2 py-1.5 outline-none"
          aria-label="Message"
          placeholder="Ask for something"
          rows={Math.min(6, text.split('\n').length)}
          value={text}
          // biome-ignore lint/a11y/noAutofocus: a chat is opened to write
          autoFocus
          onChange={event => setText(event.target.value)}
          onKeyDown={event => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            send()
          }}
        />
        <TalkButton isBusy={stop !== undefined} onWords={words => void ask(words)} />
        {stop ? (
          <IconButton icon={Square} label="Stop" onClick={stop} />
        ) : (
          <IconButton
            icon={ArrowUp}
            label="Send"
            type="submit"
            disabled={text.trim() === ''}
            className="bg-accent !text-accent-text hover:bg-accent disabled:bg-raised disabled:!text-muted"
          />
        )}
      </div>
    </form>
  )
}

/** On a narrow screen, instead of the list. */
function ConversationChoice({ current }: { current: string | undefined }) {
  const { data: all = [] } = useConversations()
  if (all.length === 0) return null
  return (
    <Select
      label="Conversation"
      className="w-36 lg:hidden"
      placeholder="Earlier …"
      value={current ?? ''}
      options={all.map(({ id, name }) => ({ value: id, label: oneLine(name, 40) }))}
      onChange={id => go(hrefTo(['chat', id]))}
    />
  )
}

function Conversations({ current }: { current: string | undefined }) {
  const { data: all = [] } = useConversations()
  const [editing, setEditing] = useState<string>()
  const [deleting, setDeleting] = useState<string>()
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['conversations'] })
  const rename = async (id: string, name: string) => {
    setEditing(undefined)
    if (name.trim()) await attempt(() => renameConversation(id, name.trim()))
    await refresh()
  }
  const remove = async (id: string) => {
    setDeleting(undefined)
    await attempt(() => removeConversation(id))
    if (id === current) {
      void openConversation(undefined)
      go('#/chat')
    }
    await refresh()
  }
  if (all.length === 0) return null
  return (
    <aside
      aria-label="Conversations"
      className="hidden w-60 shrink-0 flex-col gap-0.5 overflow-y-auto border-r border-line p-2 lg:flex"
    >
      {all.map(({ id, name }) =>
        editing === id ? (
          <input
            key={id}
            className="control"
            aria-label="Conversation name"
            defaultValue={name}
            // biome-ignore lint/a11y/noAutofocus: it was just asked for
            autoFocus
            onBlur={event => void rename(id, event.target.value)}
            onKeyDown={event => {
              if (event.key === 'Enter') event.currentTarget.blur()
              if (event.key === 'Escape') setEditing(undefined)
            }}
          />
        ) : (
          <div
            key={id}
            className={`group row gap-0 rounded-md px-2 py-1 hover:bg-raised ${id === current ? 'bg-raised' : ''}`}
          >
            <a
              className="min-w-0 flex-1 truncate"
              href={hrefTo(['chat', id])}
              aria-current={id === current ? 'page' : undefined}
            >
              {oneLine(name, 80)}
            </a>
            {deleting === id ? (
              <Button look="quiet" className="text-bad" onClick={() => void remove(id)}>
                Delete
              </Button>
            ) : (
              <span className="row gap-0 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
                <IconButton
                  icon={Pencil}
                  label={`Rename ${oneLine(name, 40)}`}
                  onClick={() => setEditing(id)}
                />
                <IconButton
                  icon={Trash2}
                  label={`Delete ${oneLine(name, 40)}`}
                  onClick={() => setDeleting(id)}
                />
              </span>
            )}
          </div>
        ),
      )}
    </aside>
  )
}
