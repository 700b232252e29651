/** How many turns everything else has until a promise is settled; `onTurn` is called in each. */
export async function countTurns<T>(
  work: Promise<T>,
  onTurn: () => void = () => {},
): Promise<{ result: T; turns: number }> {
  let turns = 0
  let isOver = false
  const turn = () => {
    if (isOver) return
    turns++
    onTurn()
    setImmediate(turn)
  }
  setImmediate(turn)
  const result = await work.finally(() => {
    isOver = true
  })
  return { result, turns }
}
