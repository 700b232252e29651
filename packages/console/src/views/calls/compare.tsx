import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import { searchCalls } from '../../api/gateway.ts'
import { useCall } from '../../api/queries.ts'
import { type Difference, differencesOf } from '../../text/differences.ts'
import { durationText, whenText } from '../../text/figures.ts'
import { Problem, Section, Spinner } from '../../ui/controls.tsx'
import { FieldTable } from '../../ui/field-table.tsx'
import { outcomeOf, toolMs } from '../../ui/result-view.tsx'
import { Select } from '../../ui/select.tsx'
import { cellText } from '../../ui/value-view.tsx'

const MAX_OTHERS = 30

/** This call beside another one of the same tool: only what differs. */
export function Compare({ call }: { call: CallRecord }) {
  const others = useQuery({
    queryKey: ['calls', 'of', call.tool],
    queryFn: async () => (await searchCalls({ tool: call.tool }, MAX_OTHERS)).calls,
    staleTime: 0,
  })
  const choices = (others.data ?? []).filter(({ serial }) => serial !== call.serial)
  const before = choices.find(({ startedAt }) => startedAt <= call.startedAt) ?? choices[0]
  const [chosen, setChosen] = useState<string>()
  const serial = chosen ?? before?.serial
  const other = useCall(serial)
  if (others.isPending) return <Spinner label="Looking for calls to compare" />
  if (choices.length === 0) return <p className="text-muted">There is no other call of this tool.</p>
  return (
    <div className="flex flex-col gap-4">
      <Select
        label="Compare with"
        value={serial ?? ''}
        options={choices.map(one => ({
          value: one.serial,
          label: `${whenText(one.startedAt)}  ${outcomeOf(one.result).word}  ${cellText(one.args, 60)}`,
        }))}
        onChange={setChosen}
      />
      <Problem text={other.error?.message} />
      {other.data && <Differences before={other.data} after={call} />}
    </div>
  )
}

function Differences({ before, after }: { before: CallRecord; after: CallRecord }) {
  const facts = differencesOf(factsOf(before), factsOf(after))
  return (
    <>
      <DifferenceTable title="Arguments" rows={differencesOf(before.args, after.args)} />
      <DifferenceTable title="Result" rows={differencesOf(resultOf(before), resultOf(after))} />
      <DifferenceTable title="Call" rows={facts} />
    </>
  )
}

function resultOf({ result }: CallRecord): unknown {
  return result?.success ? result.result : result?.error
}

function factsOf({ result, origin, caller }: CallRecord): Record<string, unknown> {
  return { outcome: outcomeOf(result).word, took: result && durationText(toolMs(result)), origin, caller }
}

/** Without rows it says that nothing differs. */
function DifferenceTable({ title, rows }: { title: string; rows: readonly Difference[] }) {
  return (
    <Section title={title}>
      {rows.length === 0 ? (
        <p className="text-muted">The same.</p>
      ) : (
        <FieldTable
          heads={['Field', 'Other call', 'This call']}
          rows={rows.slice(0, 100).map(({ path, before, after }) => ({
            path,
            cells: [
              <span key="before" className="text-bad">
                {cellText(before) || '–'}
              </span>,
              <span key="after" className="text-good">
                {cellText(after) || '–'}
              </span>,
            ],
          }))}
        />
      )}
    </Section>
  )
}
