/** `*` stands for any characters, `?` for one. Walks both texts once: no pattern can make it slow. */
export function fitsGlob(name: string, glob: string): boolean {
  let at = 0
  let inGlob = 0
  let star = -1
  let afterStar = 0
  while (at < name.length) {
    if (glob[inGlob] === '*') {
      star = inGlob++
      afterStar = at
    } else if (inGlob < glob.length && (glob[inGlob] === '?' || glob[inGlob] === name[at])) {
      inGlob++
      at++
    } else if (star >= 0) {
      inGlob = star + 1
      at = ++afterStar
    } else {
      return false
    }
  }
  return /^\**$/.test(glob.slice(inGlob))
}
