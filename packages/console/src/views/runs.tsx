import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { RotateCw, Square } from 'lucide-react'
import type { Run } from 'toolpost/gateway'
import { cancelRun, getRun, listRuns, runAgain } from '../api/gateway.ts'
import { queryClient } from '../api/queries.ts'
import { go, hrefTo, useParts, useQueryParams } from '../router.ts'
import { callWords } from '../text/call-words.ts'
import { momentText, whenText } from '../text/figures.ts'
import { oneLine } from '../text/visible-text.ts'
import {
  Badge,
  Button,
  Empty,
  Facts,
  IconButton,
  Pending,
  Section,
  type Tone,
  ViewHead,
} from '../ui/controls.tsx'
import { useListKeys } from '../ui/list-keys.ts'
import { Progress } from '../ui/progress.tsx'
import { ResultView } from '../ui/result-view.tsx'
import { Select } from '../ui/select.tsx'
import { attempt } from '../ui/toast.tsx'
import { ValueView } from '../ui/value-view.tsx'

const TONES: Record<string, Tone> = {
  waiting: 'plain',
  approval: 'warn',
  running: 'accent',
  done: 'good',
  failed: 'bad',
  cancelled: 'warn',
}

const PAGE = 50
const STATES = [
  { value: '', label: 'Any state' },
  ...Object.keys(TONES).map(value => ({ value, label: value })),
]

/** Calls that survive a crash, and the chosen one beside the list. Exists only if durable calls are on. */
export function RunsView() {
  const [, id] = useParts()
  const { state } = useQueryParams()
  const query = useInfiniteQuery({
    queryKey: ['runs', 'list', state],
    queryFn: ({ pageParam }) => listRuns(state, PAGE, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => (page.length === PAGE ? page.at(-1)?.id : undefined),
  })
  const runs = query.data?.pages.flat() ?? []
  const hrefOf = (run?: string) => hrefTo(run === undefined ? ['runs'] : ['runs', run], { state })
  useListKeys({ ids: runs.map(run => run.id), current: id, hrefOf })
  return (
    <div className="flex min-h-0 flex-1">
      <div className={`min-h-0 min-w-0 flex-1 flex-col overflow-y-auto md:flex ${id ? 'hidden' : 'flex'}`}>
        <ViewHead title="Runs">
          <Select
            label="State"
            className="w-32"
            value={state ?? ''}
            options={STATES}
            onChange={next => go(hrefTo(['runs'], { state: next }))}
          />
        </ViewHead>
        {!query.data && <Pending label="Loading runs" error={query.error} />}
        {query.data && runs.length === 0 && (
          <Empty title="No runs">Calls with an idempotency key, or of durable tools, appear here.</Empty>
        )}
        <ul>
          {runs.map(run => (
            <li key={run.id} className={`border-b border-line ${run.id === id ? 'bg-raised' : ''}`}>
              <a href={hrefOf(run.id)} className="row h-9 px-4 hover:bg-raised">
                <span className="w-24 shrink-0 text-xs text-muted tabular-nums">
                  {whenText(Date.parse(run.created_at))}
                </span>
                <span className="shrink-0 font-medium">{oneLine(run.tool, 60)}</span>
                <span className="min-w-0 flex-1 truncate text-muted">{callWords('', run.args)}</span>
                {run.attempts > 1 && <span className="text-xs text-muted">attempt {run.attempts}</span>}
                <RunState run={run} />
              </a>
            </li>
          ))}
        </ul>
        {query.hasNextPage && (
          <Button look="quiet" className="m-2 self-start" onClick={() => void query.fetchNextPage()}>
            Show more
          </Button>
        )}
      </div>
      {id && (
        <div className="min-h-0 w-full overflow-y-auto border-line md:w-1/2 md:border-l">
          <RunDetail key={id} id={id} onClose={() => go(hrefOf())} />
        </div>
      )}
    </div>
  )
}

function RunState({ run: { state } }: { run: Run }) {
  return (
    <Badge tone={TONES[state] ?? 'plain'}>
      {state === 'approval' ? 'needs approval' : oneLine(state, 20)}
    </Badge>
  )
}

function RunDetail({ id, onClose }: { id: string; onClose: () => void }) {
  const { data: run, error } = useQuery({ queryKey: ['runs', 'one', id], queryFn: () => getRun(id) })
  if (!run) return <Pending label="Loading the run" error={error} />
  const isOver = ['done', 'failed', 'cancelled'].includes(run.state)
  const again = async () => {
    const next = await runAgain(id)
    void queryClient.invalidateQueries({ queryKey: ['runs'] })
    go(hrefTo(['runs', next.id]))
  }
  return (
    <aside aria-label="Run" className="flex flex-col gap-4 p-4">
      <div className="row">
        <h2 className="min-w-0 text-lg break-all">{oneLine(run.tool, 100)}</h2>
        <RunState run={run} />
        <IconButton label="Close" className="ml-auto" onClick={onClose} />
      </div>
      {isOver ? (
        <Button icon={RotateCw} className="self-start" onClick={() => void attempt(again)}>
          Run again
        </Button>
      ) : (
        <Button icon={Square} className="self-start" onClick={() => void attempt(() => cancelRun(id))}>
          Cancel
        </Button>
      )}
      <Progress progress={run.progress} label="Progress of the run" />
      <Facts
        facts={{
          Accepted: momentText(Date.parse(run.created_at)),
          Started: run.started_at && momentText(Date.parse(run.started_at)),
          Ended: run.ended_at && momentText(Date.parse(run.ended_at)),
          Attempts: run.attempts,
          Worker: run.worker && oneLine(run.worker, 80),
          'Requested by': oneLine([run.caller, run.origin].filter(Boolean).join(', '), 100),
          Key: run.key && oneLine(run.key, 100),
          Id: <code className="break-all">{run.id}</code>,
        }}
      />
      <Section title="Steps">
        <ol className="flex flex-col gap-1">
          {run.steps.map(step => (
            <li key={`${step.name} ${step.at}`} className="row">
              <span className="w-24 text-xs text-muted tabular-nums">{whenText(Date.parse(step.at))}</span>
              {oneLine(step.name, 80)}
              <span className="text-muted">{oneLine(step.worker ?? '', 60)}</span>
            </li>
          ))}
        </ol>
      </Section>
      <Section title="Arguments">
        <ValueView value={run.args ?? {}} label="Arguments" />
      </Section>
      {run.result && (
        <Section title="Result">
          <ResultView result={run.result} />
        </Section>
      )}
    </aside>
  )
}
