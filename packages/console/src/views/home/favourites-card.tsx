import { hrefOf } from '../../routing/route.ts'
import { favourites } from '../../state/favourites.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { oneLine } from '../../text/visible-text.ts'

/** The starred tools, or how to star one. */
export function FavouritesCard() {
  const names = useStore(favourites, value => value)
  const tools = useStore(gateway, state => state.tools) ?? []
  return (
    <section className="card home-favourites" aria-labelledby="home-favourites">
      <div className="card-head">
        <h2 id="home-favourites">Favourites</h2>
        <a href={hrefOf({ view: 'tools' })}>All tools</a>
      </div>
      {names.length === 0 && <p className="muted">Star a tool to see it here.</p>}
      <ul className="plain-list rows">
        {names.map(name => (
          <li key={name}>
            <a className="row row-link" href={hrefOf({ view: 'tools', tool: name })}>
              <span className="row-name mono">{oneLine(name, 60)}</span>
              <span className="row-text">
                {oneLine(
                  tools.find(tool => tool.name === name)?.description ?? 'not available right now',
                  120,
                )}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
