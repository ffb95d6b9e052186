/** The classes of the question that one is at. */
const HERE = ['outline-2', 'outline-offset-8', 'outline-primary/50']

/** The questions of the sheet as keys go through them. One that is folded is unfolded, so that nothing is done where it can't be seen. */
export function walkQuestions(sheet: HTMLElement) {
  const all = [...sheet.querySelectorAll<HTMLDetailsElement>('details[data-question]')]
  const open = (): HTMLDetailsElement[] => all.filter((question) => question.open)
  let last: HTMLDetailsElement | undefined

  /** Where the grader is: in the question that has the focus, or was gone to last. */
  function current(): HTMLDetailsElement | undefined {
    const questions = open()
    return questions.find((question) => question.contains(document.activeElement)) ?? questions.find((one) => one === last)
  }

  /** Shows where the keys work. */
  function mark(): void {
    const marked = current()
    for (const question of all) question.classList.remove(...HERE)
    marked?.classList.add(...HERE)
  }

  function go(by: 1 | -1): void {
    const now = current()
    const at = now ? all.indexOf(now) + by : all.findIndex((question) => question.open)
    const next = all[Math.min(Math.max(at, 0), all.length - 1)]
    const heading = next?.querySelector('h2')
    if (!next || !heading) return
    next.open = true
    last = next
    heading.tabIndex = -1
    heading.focus({ preventScroll: true })
    next.scrollIntoView({ block: 'start' })
    mark()
  }

  return { here: () => current() ?? open()[0], go, mark }
}
