/** The classes of the question that one is at. */
const HERE = ['outline-2', 'outline-offset-8', 'outline-primary/50']

/** The questions of the sheet as keys go through them: those that are not folded, so that nothing is done where it can't be seen. */
export function walkQuestions(sheet: HTMLElement) {
  const all = [...sheet.querySelectorAll<HTMLDetailsElement>('details[data-question]')]
  const open = (): HTMLElement[] => all.filter((question) => question.open)
  let last: HTMLElement | undefined

  /** Where the grader is: in the question that has the focus, or was gone to last. */
  function current(): HTMLElement | undefined {
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
    const questions = open()
    const now = current()
    const at = now ? questions.indexOf(now) + by : 0
    last = questions[Math.min(Math.max(at, 0), questions.length - 1)]
    const heading = last?.querySelector('h2')
    if (!last || !heading) return
    heading.tabIndex = -1
    heading.focus({ preventScroll: true })
    last.scrollIntoView({ block: 'start' })
    mark()
  }

  return { here: () => current() ?? open()[0], go, mark }
}
