/** What people say in several words, and the words that tools have for it, a line each. */
export const PHRASES: readonly (readonly [phrase: string, meaning: string])[] = `
set up: create configure
spin up: create start run
start up: start run
bring up: start run open
boot up: start
fire up: start open run
sign up: register create account
log in: login authenticate sign
sign in: login authenticate
log out: logout
sign out: logout
write down: create add note write
jot down: create add note
note down: create add note
make a note: create add note
keep in mind: remember add note
put together: create make
come up with: create generate
make up: create generate
draw up: create draft
fill in: fill form input
fill out: fill form input
throw away: delete remove
throw out: delete remove
get rid of: delete remove
do away with: delete remove
take away: remove delete
take out: remove
take off: remove
take down: delete remove stop
tear down: delete remove cleanup
wipe out: delete clear
clean up: cleanup delete
clear out: delete clear
cross off: complete check
check off: complete mark done
tick off: complete mark done
mark as done: complete close update status
mark as read: modify update label read
call off: cancel delete
back out: cancel revert
give up: cancel stop
shut down: stop close
switch off: turn off disable
switch on: turn on enable
turn down: volume lower decrease
turn up: volume raise increase
put on: play start
carry on: resume continue
go on: continue resume
hold on: pause wait
go back: back previous navigate undo
put back: restore move undo
roll back: rollback undo revert
bring back: restore
put off: reschedule postpone update
push back: reschedule postpone update
move up: reschedule update move
hand over: assign transfer
pass on: forward send share
send on: forward
hand in: submit
look up: search find get lookup
look for: search find
find out: get search
figure out: think solve
look at: get read view
look into: inspect get analyze
look like: view show get
check out: get view checkout
go through: list read
take a look: get view read
catch up: history recent list
get back to: reply answer
write back: reply answer
hear from: message email
give back: return refund
money back: refund
pay back: refund pay
take a picture: screenshot photo capture
take a photo: screenshot photo capture
how long: duration time distance
how far: distance
how high: elevation height
how tall: elevation height
how deep: elevation depth
how big: size
how large: size
how heavy: weight size
how much: price cost amount balance
how many: count number query list
how old: age date created
how warm: temperature weather
how cold: temperature weather
how hot: temperature weather
how fast: speed performance
what time: time clock
who is: user profile person
who are: users members list
where is: find location search
where are: find locations search
close to: nearby local
close by: nearby local
in the area: nearby local
next to: nearby
plug in: connect attach
hook up: connect
team up: share invite
let in: allow access invite unlock
let know: send notify message
text message: sms message send
phone number: phone contact
to do: task todo
up to date: latest current update
right now: current
at the moment: current
all of it: all whole
so far: history status
in one go: multiple batch
at once: multiple batch
several at a time: multiple batch
`
  .trim()
  .split('\n')
  .map(line => line.split(': ') as [string, string])
