export const SSO_SETTINGS = 'settings/sign-in'
