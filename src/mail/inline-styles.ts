import { palette, quietOf, type Theme } from '../html/palette.ts'

type Role = { layout: string; color?: (theme: Theme) => string }

/** What the classes of templates mean. Colours are the pages', which nothing but this says in a mail. */
const ROLES: Record<string, Role> = {
  page: {
    layout: "margin:0;padding:24px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;line-height:1.5",
    color: (theme) => `background:${theme['base-200']};color:${theme['base-content']}`,
  },
  card: {
    layout: 'max-width:560px;margin:0 auto;padding:32px;border-radius:12px;border:1px solid',
    color: (theme) => `background:${theme['base-100']};border-color:${theme['base-300']}`,
  },
  action: { layout: 'margin:32px 0' },
  button: {
    layout: 'display:inline-block;padding:12px 24px;text-decoration:none;border-radius:8px;font-weight:600',
    color: (theme) => `background:${theme.primary};color:${theme['primary-content']}`,
  },
  quote: {
    layout: 'margin:16px 0;padding:8px 16px;border-left:4px solid;white-space:pre-wrap',
    color: (theme) => `border-color:${theme['base-300']}`,
  },
  facts: { layout: 'margin:16px 0;padding:0 0 0 20px' },
  small: { layout: 'font-size:14px;overflow-wrap:anywhere', color: (theme) => `color:${quietOf(theme)}` },
  closing: {
    layout: 'font-size:14px;white-space:pre-wrap;padding-top:16px;border-top:1px solid',
    color: (theme) => `color:${quietOf(theme)};border-color:${theme['base-300']}`,
  },
}

/** For programs that read styles and know what their reader prefers. Inlined ones weigh more, but for what is important. */
const DARK = Object.entries(ROLES)
  .map(([name, { color }]) => (color ? `.${name}{${color(palette.dark).replaceAll(/;|$/g, '!important$&')}}` : ''))
  .join('')

/**
 * Gives each class of a mail its style at the element, because many mail programs read nothing else; and all of them the dark colours.
 * Quotes are escaped in what others have written: a class is a template's.
 *
 * @throws Error for a class that means nothing here.
 */
export function inlineStyles(mail: string): string {
  const styled = mail.replace(/ class="([^"]*)"/g, (given, name: string) => {
    const role = ROLES[name]
    if (!role) throw new Error(`A mail's template has the class ${name}`)
    return `${given} style="${[role.layout, role.color?.(palette.light)].filter(Boolean).join(';')}"`
  })
  return styled.replace('</head>', `<style>@media (prefers-color-scheme:dark){${DARK}}</style>\n</head>`)
}
