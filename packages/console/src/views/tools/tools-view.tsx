import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo, useState } from 'react'
import type { ToolInfo } from 'toolpost/gateway'
import { rankTools } from '../../api/gateway.ts'
import { useCall, useTools } from '../../api/queries.ts'
import { go, hrefTo, useParts, useQueryParams } from '../../router.ts'
import { counted } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Badge, Empty, Pending, ViewHead } from '../../ui/controls.tsx'
import { useListKeys } from '../../ui/list-keys.ts'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { ToolDetail } from './tool-detail.tsx'

/** The list of tools, and the chosen one beside it; on a phone one or the other. */
export function ToolsView() {
  const [, name] = useParts()
  const { from } = useQueryParams()
  const { data: tools, error } = useTools()
  const call = useCall(from)
  const tool = tools?.find(one => one.name === name)
  return (
    <div className="flex min-h-0 flex-1">
      <div
        className={`min-h-0 w-full flex-col border-line md:flex md:w-72 md:shrink-0 md:border-r ${name ? 'hidden' : 'flex'}`}
      >
        <ViewHead title="Tools">
          <span className="text-muted">{tools && counted(tools.length, 'tool')}</span>
        </ViewHead>
        {tools ? <ToolList tools={tools} current={name} /> : <Pending label="Loading tools" error={error} />}
      </div>
      {/* Its own scroll area, so that the list stays in place. */}
      <div className={`min-h-0 min-w-0 flex-1 overflow-y-auto ${name ? '' : 'hidden md:block'}`}>
        {tool && !(from && call.isPending) ? (
          <ToolDetail key={`${tool.name} ${from ?? ''}`} tool={tool} call={call.data} />
        ) : name && tools && !tool ? (
          <Empty title="There is no such tool">
            <code>{oneLine(name, 100)}</code> is not available now.{' '}
            <a className="link" href="#/tools">
              All tools
            </a>
          </Empty>
        ) : (
          !name && (
            <Empty title="Choose a tool">Its form, its result and the request as code appear here.</Empty>
          )
        )}
      </div>
    </div>
  )
}

type Row = { source: string; count: number } | { tool: ToolInfo }

function ToolList({ tools, current }: { tools: readonly ToolInfo[]; current: string | undefined }) {
  const [words, setWords] = useState('')
  const asked = useDeferredValue(words.trim())
  const found = useFound(tools, asked)
  const rows = useMemo(() => rowsOf(found, asked !== ''), [found, asked])
  const hrefOf = (id?: string) => hrefTo(id === undefined ? ['tools'] : ['tools', id])
  useListKeys({ ids: found.map(({ name }) => name), current, hrefOf })
  return (
    <>
      <div className="border-b border-line p-2">
        <input
          type="search"
          className="control"
          aria-label="Search tools"
          placeholder="Search tools"
          value={words}
          onChange={event => setWords(event.target.value)}
          onKeyDown={event => event.key === 'Enter' && found[0] && go(hrefOf(found[0].name))}
        />
      </div>
      {rows.length === 0 && <p className="p-4 text-muted">No tool fits.</p>}
      <VirtualList
        label="List of tools"
        className="p-1"
        entries={rows}
        keyOf={row => ('tool' in row ? `tool ${row.tool.name}` : `source ${row.source}`)}
        heightOf={row => ('tool' in row ? 46 : 28)}
        current={rows.findIndex(row => 'tool' in row && row.tool.name === current)}
      >
        {row =>
          'tool' in row ? (
            <ToolLink tool={row.tool} isCurrent={row.tool.name === current} />
          ) : (
            <h2 className="row h-7 justify-between px-2 text-xs font-medium text-muted">
              {oneLine(row.source, 40)} <span>{row.count}</span>
            </h2>
          )
        }
      </VirtualList>
    </>
  )
}

function ToolLink({ tool, isCurrent }: { tool: ToolInfo; isCurrent: boolean }) {
  return (
    <a
      href={hrefTo(['tools', tool.name])}
      aria-current={isCurrent ? 'true' : undefined}
      className={`block rounded-md px-2 py-1 hover:bg-raised ${isCurrent ? 'bg-raised' : ''}`}
    >
      <span className="row justify-between">
        <span className="truncate font-medium">{oneLine(tool.name, 100)}</span>
        {tool.destructive && <Badge tone="warn">destructive</Badge>}
      </span>
      <span className="block truncate text-xs text-muted">{oneLine(tool.description, 120) || '\u00a0'}</span>
    </a>
  )
}

/** Tools that have all the words; if none has, those that the gateway finds similar. */
function useFound(tools: readonly ToolInfo[], words: string): ToolInfo[] {
  const local = useMemo(() => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
    return tools.filter(tool => {
      const text = `${tool.name} ${tool.title ?? ''} ${tool.description} ${tool.source}`.toLowerCase()
      return wanted.every(word => text.includes(word) || text.replaceAll('_', ' ').includes(word))
    })
  }, [tools, words])
  const ranked = useQuery({
    queryKey: ['tools', 'ranked', words],
    queryFn: ({ signal }) => rankTools(words, signal),
    enabled: words !== '' && local.length === 0,
  })
  if (local.length > 0) return local
  return (ranked.data ?? []).flatMap(name => tools.find(tool => tool.name === name) ?? [])
}

/** By source, in the order of the sources, unless they were searched for. */
function rowsOf(tools: readonly ToolInfo[], isSearch: boolean): Row[] {
  if (isSearch) return tools.map(tool => ({ tool }))
  const sources = Map.groupBy(tools, tool => tool.source)
  return [...sources].flatMap(([source, own]) => [
    { source, count: own.length },
    ...own.map(tool => ({ tool })),
  ])
}
