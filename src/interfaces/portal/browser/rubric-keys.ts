/** Keys 1 to 6 pick a level of the current criterion and move to the next one. The current criterion has the attribute data-current. */
export function createRubricKeys({
  currentQuestion,
  say,
}: {
  currentQuestion: () => HTMLElement | undefined
  say: (text: string) => void
}) {
  const criteriaHere = (): HTMLElement[] => [...(currentQuestion()?.querySelectorAll<HTMLElement>('form [data-criterion]') ?? [])]
  const placeOf = (criteria: HTMLElement[]): number => {
    const focused = criteria.findIndex((criterion) => criterion.contains(document.activeElement))
    if (focused >= 0) return focused
    const current = criteria.findIndex((criterion) => criterion.hasAttribute('data-current'))
    if (current >= 0) return current
    const open = criteria.findIndex((criterion) => !criterion.querySelector(':checked'))
    return Math.max(0, open)
  }
  const picks: { levels: HTMLInputElement[]; before: HTMLInputElement | undefined }[] = []

  function mark(criteria: HTMLElement[], position: number): void {
    for (const [i, criterion] of criteria.entries()) criterion.toggleAttribute('data-current', i === position)
    criteria[position]?.scrollIntoView({ block: 'nearest' })
  }

  return {
    /** @returns false if the question has no rubric. */
    pick(digit: number): boolean {
      const criteria = criteriaHere()
      if (criteria.length === 0) return false
      const position = placeOf(criteria)
      const levels = [...criteria[position]!.querySelectorAll<HTMLInputElement>('input[type=radio]')]
      const level = levels[digit - 1]
      if (!level || level.disabled) return true
      picks.push({ levels, before: levels.find(({ checked }) => checked) })
      level.checked = true
      level.dispatchEvent(new Event('input', { bubbles: true }))
      say(level.closest('label')?.innerText.replaceAll('\n', ' ') ?? '')
      if (document.activeElement instanceof HTMLElement && criteria[position]!.contains(document.activeElement))
        document.activeElement.blur()
      mark(criteria, Math.min(position + 1, criteria.length - 1))
      return true
    },
    /** Moves to the next or previous criterion. @returns false if the question has no rubric. */
    walk(step: 1 | -1): boolean {
      const criteria = criteriaHere()
      if (criteria.length === 0) return false
      mark(criteria, Math.min(Math.max(placeOf(criteria) + step, 0), criteria.length - 1))
      return true
    },
    /** Takes back the last pick. @returns false if there is none. */
    undo(): boolean {
      const last = picks.pop()
      if (!last || criteriaHere().length === 0) return false
      for (const level of last.levels) level.checked = level === last.before
      last.levels[0]!.dispatchEvent(new Event('input', { bubbles: true }))
      const criteria = criteriaHere()
      mark(
        criteria,
        Math.max(
          0,
          criteria.findIndex((criterion) => criterion.contains(last.levels[0]!)),
        ),
      )
      say('Undone')
      return true
    },
    showCurrent(): void {
      const criteria = criteriaHere()
      if (criteria.length > 0) mark(criteria, placeOf(criteria))
    },
  }
}
