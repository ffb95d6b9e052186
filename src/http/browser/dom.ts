type Attributes = Record<string, string | boolean | ((event: Event) => void)>
type Child = Node | string | false | null

/** Creates an element. Attributes: `true` sets an empty value, `false` omits it, `onclick` and the like add listeners. */
export function createElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key.slice(2), value)
    else if (value !== false) element.setAttribute(key, value === true ? '' : value)
  }
  element.append(...children.filter((child) => child !== false && child !== null))
  return element
}

/** Creates a button that is disabled while `act` runs. */
export function createButton(label: string, act: () => void | Promise<void>, kind = 'btn btn-primary'): HTMLButtonElement {
  const element = createElement('button', { type: 'button', class: kind }, label)
  element.addEventListener('click', async () => {
    if (element.ariaDisabled === 'true') return
    element.ariaDisabled = 'true'
    try {
      await act()
    } finally {
      element.ariaDisabled = null
    }
  })
  return element
}

/** Changes the text only if it differs, because screen readers announce each change. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Shows an element with a text, or hides it if the text is empty. */
export function setNotice(element: HTMLElement, text: string): void {
  setText(element, text)
  element.hidden = text === ''
}

export const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))
