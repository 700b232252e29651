import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getPrompt, listOffers, type Offer, readResource } from '../../api/gateway.ts'
import { isRecord, messageOf } from '../../api/http.ts'
import { counted } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Blocks } from '../../ui/content.tsx'
import { Button, Problem, Section, Spinner } from '../../ui/controls.tsx'
import { ValueView } from '../../ui/value-view.tsx'

/** The resources and prompts of a server, to be opened. */
export function Offers({ server }: { server: string }) {
  const { data, error } = useQuery({
    queryKey: ['offers', server],
    queryFn: () => listOffers(server),
    staleTime: 0,
  })
  if (error) return <Problem text={error.message} />
  if (!data) return <Spinner label="Loading" />
  const { resources, prompts } = data
  if (resources.length + prompts.length === 0) return <p className="text-muted">None at the moment.</p>
  return (
    <div className="flex flex-col gap-5">
      {resources.length > 0 && (
        <Section title={counted(resources.length, 'resource')}>
          <List offers={resources} isPrompt={false} />
        </Section>
      )}
      {prompts.length > 0 && (
        <Section title={counted(prompts.length, 'prompt')}>
          <List offers={prompts} isPrompt />
        </Section>
      )}
    </div>
  )
}

function List({ offers, isPrompt }: { offers: readonly Offer[]; isPrompt: boolean }) {
  return (
    <ul className="card divide-y divide-line">
      {offers.slice(0, 200).map(offer => (
        <li key={offer.uri ?? offer.uriTemplate ?? offer.name} className="flex flex-col gap-2 p-3">
          <OfferItem offer={offer} isPrompt={isPrompt} />
        </li>
      ))}
    </ul>
  )
}

interface Blank {
  name: string
  description?: string
}

/** What must be filled in first: a prompt's arguments, or the variables of a template. */
function blanksOf({ uriTemplate, arguments: args }: Offer): Blank[] {
  if (uriTemplate === undefined) return args ?? []
  return [...uriTemplate.matchAll(/\{[+#./;?&]?([^{}]{1,60})\}/g)].map(([, name = '']) => ({ name }))
}

function OfferItem({ offer, isPrompt }: { offer: Offer; isPrompt: boolean }) {
  const blanks = blanksOf(offer)
  const [given, setGiven] = useState<Record<string, string>>({})
  const [opened, setOpened] = useState<{ value: unknown } | { problem: string }>()
  const open = async () => {
    try {
      const uri = (offer.uri ?? offer.uriTemplate ?? '').replace(
        /\{[+#./;?&]?([^{}]{1,60})\}/g,
        (_, name: string) => encodeURIComponent(given[name] ?? ''),
      )
      setOpened({ value: isPrompt ? await getPrompt(offer.name, given) : await readResource(uri) })
    } catch (error) {
      setOpened({ problem: messageOf(error) })
    }
  }
  return (
    <>
      <form
        className="flex flex-wrap items-center gap-2"
        onSubmit={event => {
          event.preventDefault()
          void open()
        }}
      >
        <div className="mr-auto min-w-0">
          <p className="font-medium">{oneLine(offer.title ?? offer.name, 100)}</p>
          <p className="text-xs break-all text-muted">
            {oneLine(offer.description ?? offer.uri ?? offer.uriTemplate ?? '', 200)}
          </p>
        </div>
        {blanks.map(({ name, description }) => (
          <input
            key={name}
            className="control w-40"
            aria-label={oneLine(name, 60)}
            placeholder={oneLine(name, 60)}
            title={oneLine(description ?? '', 200)}
            onChange={event => setGiven({ ...given, [name]: event.target.value })}
          />
        ))}
        <Button type="submit" aria-label={`Open ${oneLine(offer.title ?? offer.name, 60)}`}>
          Open
        </Button>
      </form>
      {opened && ('problem' in opened ? <Problem text={opened.problem} /> : <Opened value={opened.value} />)}
    </>
  )
}

/** Contents of a resource are shown like those of a result; messages of a prompt as they are. */
function Opened({ value }: { value: unknown }) {
  const contents = Array.isArray(value) && value.every(part => isRecord(part) && typeof part.uri === 'string')
  if (!contents) return <ValueView value={value} label="Content" />
  return <Blocks blocks={value.map(resource => ({ type: 'resource', resource }))} />
}
