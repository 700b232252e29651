const COLOURS = 'red|blue|green|purple|pink|orange|yellow|violet|turquoise|teal|cyan|magenta|lilac|gold'

/** Unsupported features → how people ask for them. */
export const CANNOT: readonly (readonly [string, readonly string[]])[] = [
  [
    'set timers',
    [
      '[set|start|give me|i need] [a|an|the|my] {text} timer [{text}]',
      '[set|start|stop|cancel|pause] [a|the|my|all] (timer|timers|countdown) [{text}]',
      'how (much time|long) [is] left {text}',
      'set a timer',
      'count down {text}',
    ],
  ],
  [
    'set alarms',
    [
      '[set|stop|cancel|turn off|snooze] [a|an|the|my|all] (alarm|alarms) [{text}]',
      '(set|cancel|make|create|add|i need|i want|give me) [a|an|the|my] {text} alarm [{text}]',
      'wake (me|us) [up] [{text}]',
    ],
  ],
  [
    'keep reminders',
    [
      'remind (me|us) [{text}]',
      '[set|make|add|create] [a|the|my] (reminder|reminders) [{text}]',
      "(do not|don't) let me forget [{text}]",
      'what are my reminders',
    ],
  ],
  [
    'tell the weather',
    [
      '[what is|how is|tell me] [the] weather [{text}]',
      'what will the weather {text}',
      '(will|is|does|did) it [be|going to] (rain|raining|snow|snowing|sunny|windy|cloudy|freeze) [{text}]',
      'is it (sunny|windy|cloudy|going to rain|going to snow) [{text}]',
      'do i need (an umbrella|a jacket|a coat) [{text}]',
      '[what is the] (forecast|weather forecast) [{text}]',
      'how (warm|cold|hot) (will it be|is it going to be) [{text}]',
      'how (warm|cold|hot) is it outside',
    ],
  ],
  [
    'play music or videos',
    [
      '(play|listen to|put on) (music|some {text}|a {text}|the {text}|my {text}|radio|jazz|spotify|youtube|netflix)',
      'play {text}',
      '(pause|resume|skip|stop) [the|this] (music|song|track|playback|video|movie|radio|playlist)',
      '(next|previous|skip|skip this) (song|track)',
      'what (song|track|music) is [this|playing|that]',
      '(watch|stream) {text}',
    ],
  ],
  [
    'make calls or send messages',
    [
      '(call|phone|dial|ring) {text}',
      '(send|write|read) [a|an|the|my] (text|message|messages|email|emails|mail|sms|whatsapp) [{text}]',
      'text {text}',
    ],
  ],
  [
    'keep a calendar',
    [
      '[what is|add {text} to|show|open|check] [on|in] [my|the] (calendar|agenda|schedule) [{text}]',
      '(schedule|book|arrange) [a|an] (meeting|appointment|event|call) [{text}]',
      'what (do|have) i [have] [got] (on|planned|scheduled) [{text}]',
      'when is my next (meeting|appointment)',
    ],
  ],
  [
    'keep lists',
    [
      '(add|put) {text} (to|on) [my|the|our] [shopping|grocery|to do|todo] list',
      '[what is on|show|read] [my|the|our] (shopping|grocery|to do|todo) list',
    ],
  ],
  [
    'tell the news',
    [
      '[what is|tell me|read [me]|play [me]|give me] [the] [latest] (news|headlines) [{text}]',
      'what happened today',
    ],
  ],
  [
    'change colours',
    [
      `(make|turn|set|change|switch|put) {text} [to|into] [light|dark|bright|deep] (${COLOURS})`,
      '(change|set|make) [the] (colour|color|colours|colors) [of|for|in] {text}',
      '(make|set|turn|change) {text} (warm|cool|cold|soft) white',
    ],
  ],
  ['order or buy things', ['(order|buy|purchase) {text}', 'book {text}']],
  ['tell jokes or stories', ['tell me a (joke|story|riddle)', '(make me laugh|sing [me] [a song])']],
  [
    'do things later',
    ['(schedule|plan|automate) {text}', 'every (day|morning|evening|night|hour|week) {text}'],
  ],
]
