import { parser, RuleType } from 'markdown-to-jsx/html'
import { Fragment, type ReactNode, useMemo } from 'react'
import { oneLine, visibleText } from '../../text/visible-text.ts'
import { CopyButton } from '../copy-button.tsx'
import { WebLink } from '../web-link.tsx'

/** Deeper nodes are left out: React renders recursively. */
const MAX_DEPTH = 30
const MAX_NODES = 20_000

type Node = ReturnType<typeof parser>[number]
interface Room {
  nodes: number
}

/** The parser only reads; every element is created here, so that text can become nothing but these. */
export function RenderedMarkdown({ text }: { text: string }) {
  return useMemo(() => {
    const nodes = parser(visibleText(text), { disableParsingRawHTML: true })
    return drawn(nodes, 0, { nodes: MAX_NODES })
  }, [text])
}

function drawn(nodes: readonly Node[], depth: number, room: Room): ReactNode {
  if (depth > MAX_DEPTH) return '…'
  return nodes.map((node, at) => {
    room.nodes -= 1
    if (room.nodes < 0) return null
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text keep their order
    return <Fragment key={at}>{element(node, inner => drawn(inner, depth + 1, room))}</Fragment>
  })
}

function element(node: Node, draw: (nodes: readonly Node[]) => ReactNode): ReactNode {
  switch (node.type) {
    case RuleType.text:
      return visibleText(node.text)
    case RuleType.paragraph:
      return <p>{draw(node.children)}</p>
    case RuleType.heading:
      return <Heading level={node.level}>{draw(node.children)}</Heading>
    case RuleType.textFormatted:
      return <Formatted tag={node.tag}>{draw(node.children)}</Formatted>
    case RuleType.codeInline:
      return <code>{visibleText(node.text)}</code>
    case RuleType.codeBlock:
      return <Code text={node.text} />
    case RuleType.blockQuote:
      return <blockquote>{draw(node.children)}</blockquote>
    case RuleType.unorderedList:
      return <ul>{node.items.map(listItem(draw))}</ul>
    case RuleType.orderedList:
      return <ol start={node.start}>{node.items.map(listItem(draw))}</ol>
    case RuleType.gfmTask:
      return <input type="checkbox" checked={node.completed} readOnly disabled aria-label="Done" />
    case RuleType.table:
      return <Table node={node} draw={draw} />
    case RuleType.link:
      return <WebLink address={node.target ?? ''}>{draw(node.children)}</WebLink>
    case RuleType.image:
      return (
        <WebLink
          address={node.target ?? ''}
        >{`Image: ${oneLine(node.alt || (node.target ?? ''), 200)}`}</WebLink>
      )
    case RuleType.breakLine:
      return <br />
    case RuleType.breakThematic:
      return <hr />
    case RuleType.footnoteReference:
      return <sup>{oneLine(node.text, 40)}</sup>
    default:
      return 'text' in node && typeof node.text === 'string' ? visibleText(node.text) : null
  }
}

function listItem(draw: (nodes: readonly Node[]) => ReactNode) {
  return (item: readonly Node[], at: number) => <li key={at}>{draw(item)}</li>
}

/** Not a real heading, so that the page's outline stays its own. */
function Heading({ level, children }: { level: number; children: ReactNode }) {
  return <p className={`prose-heading prose-heading-${Math.min(level, 4)}`}>{children}</p>
}

function Formatted({ tag, children }: { tag: string; children: ReactNode }) {
  if (tag === 'strong') return <strong>{children}</strong>
  if (tag === 'em') return <em>{children}</em>
  if (tag === 'del') return <del>{children}</del>
  return <mark>{children}</mark>
}

function Code({ text }: { text: string }) {
  return (
    <div className="prose-code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be focusable */}
      <section className="code-scroll" aria-label="Code" tabIndex={0}>
        <pre>{visibleText(text)}</pre>
      </section>
      <CopyButton label="Copy" text={() => text} />
    </div>
  )
}

interface TableProps {
  node: Extract<Node, { type: typeof RuleType.table }>
  draw: (nodes: readonly Node[]) => ReactNode
}

function Table({ node, draw }: TableProps) {
  const style = (at: number) => ({ textAlign: node.align[at] ?? ('left' as const) })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be focusable
    <section className="table-scroll" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {node.header.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text keep their order
              <th key={at} style={style(at)}>
                {draw(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {node.cells.map((row, line) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text keep their order
            <tr key={line}>
              {row.map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text keep their order
                <td key={at} style={style(at)}>
                  {draw(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
