/** Classes of the current question. */
const HERE = ['outline-2', 'outline-offset-8', 'outline-primary/50']

/** Moves through the questions by keys. Folded questions are unfolded first, so that keys never act on something hidden. */
export function walkQuestions(sheet: HTMLElement) {
  const allQuestions = [...sheet.querySelectorAll<HTMLDetailsElement>('details[data-question]')]
  const open = (): HTMLDetailsElement[] => allQuestions.filter((question) => question.open)
  let last: HTMLDetailsElement | undefined

  /** The question that has the focus, or was visited last. */
  function current(): HTMLDetailsElement | undefined {
    const questions = open()
    return (
      questions.find((question) => question.contains(document.activeElement)) ?? questions.find((question) => question === last)
    )
  }

  function mark(): void {
    const markedQuestion = current()
    for (const question of allQuestions) question.classList.remove(...HERE)
    markedQuestion?.classList.add(...HERE)
  }

  function go(step: 1 | -1): void {
    const now = current()
    const index = now ? allQuestions.indexOf(now) + step : allQuestions.findIndex((question) => question.open)
    const next = allQuestions[Math.min(Math.max(index, 0), allQuestions.length - 1)]
    const heading = next?.querySelector('h2')
    if (!next || !heading) return
    next.open = true
    last = next
    heading.tabIndex = -1
    heading.focus({ preventScroll: true })
    next.scrollIntoView({ block: 'start' })
    mark()
  }

  return { currentQuestion: () => current() ?? open()[0], go, mark }
}
