import { lexer, type Token, type Tokens } from 'marked'
import { Fragment, type ReactNode, useMemo } from 'react'
import { oneLine, visibleText } from '../text/visible-text.ts'
import { CodeBlock } from './code.tsx'
import { ScrollBox } from './controls.tsx'
import { WebLink } from './web-link.tsx'

/** Deeper tokens are left out: React renders recursively. */
const MAX_DEPTH = 30
const MAX_TOKENS = 20_000

type Draw = (tokens: readonly Token[] | undefined) => ReactNode

/** The lexer only reads; every element is created here, so that text can become nothing but these. */
export function RenderedMarkdown({ text }: { text: string }) {
  return useMemo(() => {
    let left = MAX_TOKENS
    const draw = (tokens: readonly Token[] | undefined, depth: number): ReactNode => {
      if (depth > MAX_DEPTH) return '…'
      return tokens?.map((token, at) => {
        left -= 1
        if (left < 0) return null
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text keep their order
        return <Fragment key={at}>{element(token, inner => draw(inner, depth + 1))}</Fragment>
      })
    }
    return draw(lexer(visibleText(text)), 0)
  }, [text])
}

function element(token: Token, draw: Draw): ReactNode {
  switch (token.type) {
    case 'paragraph':
      return <p>{draw(token.tokens)}</p>
    case 'heading':
      // Not a real heading, so that the page's outline stays its own.
      return <p className={`font-semibold ${token.depth <= 2 ? 'text-base' : ''}`}>{draw(token.tokens)}</p>
    case 'strong':
      return <strong>{draw(token.tokens)}</strong>
    case 'em':
      return <em>{draw(token.tokens)}</em>
    case 'del':
      return <del>{draw(token.tokens)}</del>
    case 'codespan':
      return <code>{visibleText(token.text)}</code>
    case 'code':
      return <CodeBlock text={token.text} label="Code" />
    case 'blockquote':
      return <blockquote>{draw(token.tokens)}</blockquote>
    case 'list':
      return <List token={token as Tokens.List} draw={draw} />
    case 'table':
      return <Table token={token as Tokens.Table} draw={draw} />
    case 'link':
      return <WebLink address={token.href}>{draw(token.tokens)}</WebLink>
    case 'image':
      return <WebLink address={token.href}>Image: {oneLine(token.text || token.href, 200)}</WebLink>
    case 'br':
      return <br />
    case 'hr':
      return <hr className="border-line" />
    case 'text':
      return 'tokens' in token && token.tokens ? draw(token.tokens) : visibleText(token.text)
    case 'space':
    case 'def':
      return null
    default:
      // HTML and whatever else there may be, as it was written.
      return visibleText('text' in token ? String(token.text) : token.raw)
  }
}

function List({ token, draw }: { token: Tokens.List; draw: Draw }) {
  const items = token.items.map((item, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text keep their order
    <li key={at}>
      {item.task && (item.checked ? '☑ ' : '☐ ')}
      {draw(item.tokens)}
    </li>
  ))
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

function Table({ token, draw }: { token: Tokens.Table; draw: Draw }) {
  const line = (cells: readonly Tokens.TableCell[], Cell: 'th' | 'td', key: number) => (
    <tr key={key}>
      {cells.map((cell, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text keep their order
        <Cell key={at}>{draw(cell.tokens)}</Cell>
      ))}
    </tr>
  )
  return (
    <ScrollBox label="Table">
      <table>
        <thead>{line(token.header, 'th', 0)}</thead>
        <tbody>{token.rows.map((row, at) => line(row, 'td', at))}</tbody>
      </table>
    </ScrollBox>
  )
}
