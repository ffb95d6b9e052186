/** The radio buttons of a form's rubric, as one text: the chosen level of each criterion from 1, 0 for none. Empty if none is chosen. */
export function findLevels(form: HTMLFormElement) {
  const criteria = [...form.querySelectorAll<HTMLElement>('[data-criterion]')].map((criterion) => [
    ...criterion.querySelectorAll<HTMLInputElement>('input[type=radio]'),
  ])
  const join = (isChosen: (level: HTMLInputElement) => boolean): string => {
    const chosen = criteria.map((levels) => levels.findIndex(isChosen) + 1)
    return chosen.some((level) => level > 0) ? chosen.join(' ') : ''
  }
  const sum = (): string => {
    const chosen = criteria.map((levels) => levels.find(({ checked }) => checked))
    if (chosen.includes(undefined)) return ''
    return String(chosen.reduce((points, level) => points + Number(level!.dataset.levelPoints), 0))
  }
  return {
    read: () => join(({ checked }) => checked),
    asSaved: () => join(({ defaultChecked }) => defaultChecked),
    write(text: string): void {
      const chosen = text.split(' ')
      for (const [i, levels] of criteria.entries())
        for (const [j, level] of levels.entries()) level.checked = Number(chosen[i] ?? 0) === j + 1
    },
    /** @param follow called with the points of the levels after each change; empty until all criteria have one. */
    listen(follow: (points: string) => void): void {
      for (const level of criteria.flat()) level.addEventListener('input', () => follow(sum()))
    },
    lock(): void {
      for (const level of criteria.flat()) level.disabled = true
    },
  }
}
