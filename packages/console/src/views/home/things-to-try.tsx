import type { ToolInfo } from 'toolpost/gateway'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Icon, type IconName } from '../../components/icon.tsx'
import { hrefOf } from '../../routing/route.ts'
import { go } from '../../routing/use-route.ts'
import { chat } from '../../state/chat.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { oneLine } from '../../text/visible-text.ts'
import { hasBlank, suggestionsFor } from '../chat/example-questions.ts'

/** Three first steps: run a tool, ask for something, connect an assistant. */
export function ThingsToTry() {
  const tools = useStore(gateway, state => state.tools) ?? []
  const tool = toolToTry(tools)
  const question = suggestionsFor(tools).find(one => !hasBlank(one))
  const address = `${location.origin}/mcp`
  return (
    <section className="home-try" aria-labelledby="home-try">
      <h2 id="home-try">Three things to try</h2>
      <div className="try-cards">
        {tool && (
          <Try icon="tools" title="Run a tool" text={oneLine(tool.description.split('\n')[0] ?? '', 110)}>
            <a className="button" href={hrefOf({ view: 'tools', tool: tool.name })}>
              Open <code>{oneLine(tool.name, 40)}</code>
            </a>
          </Try>
        )}
        {question && (
          <Try icon="chat" title="Ask for something" text={`“${oneLine(question, 100)}”`}>
            <Button onClick={() => askInChat(question)}>Ask in the chat</Button>
          </Try>
        )}
        <Try
          icon="plug"
          title="Connect an assistant"
          text="Claude, Cursor and any other MCP client can use all of these tools."
        >
          <CopyButton label="Copy the MCP address" look="plain" text={() => address} />
        </Try>
      </div>
    </section>
  )
}

function askInChat(question: string): void {
  void chat.ask(question)
  go({ view: 'chat' })
}

/** A harmless tool with few required arguments. */
function toolToTry(tools: readonly ToolInfo[]): ToolInfo | undefined {
  const safe = tools.filter(({ readOnly }) => readOnly === true)
  const needs = ({ schema }: ToolInfo) => (Array.isArray(schema.required) ? schema.required.length : 0)
  return (
    safe.find(tool => needs(tool) === 0) ?? safe[0] ?? tools.find(({ destructive }) => destructive !== true)
  )
}

interface TryProps {
  icon: IconName
  title: string
  text: string
  children: React.ReactNode
}

function Try({ icon, title, text, children }: TryProps) {
  return (
    <article className="card try">
      <span className="try-icon">
        <Icon name={icon} />
      </span>
      <h3>{title}</h3>
      <p className="muted">{text}</p>
      <div className="try-action">{children}</div>
    </article>
  )
}
