/** Words that people and the authors of tools use for one another, a line for each meaning. */
export const SYNONYMS: readonly string[] = `
add create make new insert append register generate open start begin write
delete remove erase drop destroy discard trash clear rid purge unlink
list show display enumerate browse view available all see
get fetch retrieve read obtain load look inspect details describe about
find search lookup locate query seek discover
update edit modify change alter adjust set replace rewrite amend revise
send post publish deliver submit email message share
upload push put attach store save keep
download pull fetch
copy duplicate clone fork
move rename relocate transfer
run execute invoke call launch perform trigger
stop cancel abort halt terminate kill end quit
pause suspend hold
restart reboot reload refresh
enable activate on
disable deactivate off
approve accept confirm allow
reject decline deny refuse
compare diff difference changes
merge combine join unite
split divide
count number many total amount
sum add plus calculate compute math arithmetic
check verify validate test inspect health status
status state condition progress
file document text
folder directory
path location place
image picture photo screenshot snapshot
video movie clip film
audio sound voice music song
volume loud quiet louder
message chat mail email note
channel room group
user person people member account profile contact
team organization org group company
customer client buyer
issue ticket bug task todo
comment reply respond answer note
pull merge request pr review
branch ref
commit revision change
repository repo project codebase
code source program script
release version tag
log logs history record events
error failure exception crash problem
database db table sql
row record entry item
column field property
schema structure layout
page website site web url link
browser tab window
click press tap
type enter fill input
navigate go visit open
element button
scroll
form
weather forecast temperature rain
temperature warm cold hot heat thermostat degrees
light lamp bulb dim brightness
switch toggle turn
lock unlock door
device gadget appliance sensor
map directions route navigate way distance travel
address location coordinates geocode place
nearby near around
time clock date day calendar now current today
event meeting appointment schedule calendar
reminder remind alarm timer
price cost pay payment charge money bill invoice
order purchase buy
refund return
subscription plan
product item goods
stock inventory
news article headlines
translate language
summarize summary brief overview
knowledge memory graph remember recall
entity node object thing
relation edge link connection relationship
observation fact note
tree hierarchy structure nested
size big large length
permission access rights
password secret credential key token
environment variable env setting configuration config
container pod docker image
deploy deployment release ship rollout
scale replicas resize
node server machine host cluster
network connection port
cpu memory usage metrics resource
alert alarm notification notify warning
chart graph plot diagram
report summary analysis
extract scrape crawl parse
convert transform format
compress zip gzip archive
encode decode
random dice
echo repeat
`
  .trim()
  .split('\n')
