// Lets a reader of the page send its requests. Everything here is in addition: the page reads without it.

const KEY = 'api-key'
const keyForm = document.querySelector('form.key')
const key = document.querySelector('#key')

// The session's storage, not the browser's for good: a key is not to outlive the tab on a machine that others use.
key.value = sessionStorage.getItem(KEY) ?? ''
key.addEventListener('input', () => sessionStorage.setItem(KEY, key.value))
keyForm.addEventListener('reset', () => sessionStorage.removeItem(KEY))
keyForm.addEventListener('submit', (event) => event.preventDefault())

for (const element of document.querySelectorAll('[hidden]')) element.hidden = false
document.querySelector('.contents details').open = matchMedia('(min-width: 64rem)').matches

for (const form of document.querySelectorAll('.try form')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    send(form)
  })
}

async function send(form) {
  const answer = form.querySelector('.answer')
  answer.replaceChildren('Sending …')
  try {
    const start = performance.now()
    const response = await fetch(addressOf(form), requestOf(form))
    const text = await response.text()
    const status = `${response.status} ${response.statusText}, ${Math.round(performance.now() - start)} ms`
    answer.replaceChildren(element('p', status), element('pre', inLines(text)))
  } catch (error) {
    answer.replaceChildren(element('p', `The request could not be sent: ${error.message}`))
  }
}

/** What was filled in for that part of the request. */
const filled = (form, place) =>
  [...form.elements].filter((field) => field.dataset.in === place && field.value !== '').map(({ name, value }) => [name, value])

function addressOf(form) {
  const path = filled(form, 'path').reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    form.dataset.path,
  )
  const query = new URLSearchParams(filled(form, 'query')).toString()
  return query ? `${path}?${query}` : path
}

function requestOf(form) {
  const body = form.querySelector('textarea')?.value
  const headers = { ...Object.fromEntries(filled(form, 'header')), [document.body.dataset.keyHeader]: key.value.trim() }
  if (body) headers['content-type'] = 'application/json'
  return { method: form.dataset.method, headers, credentials: 'omit', cache: 'no-store', ...(body && { body }) }
}

function inLines(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function element(name, text) {
  const made = document.createElement(name)
  made.textContent = text
  return made
}
